// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.kill

import java.io.OutputStream

import org.apache.hadoop.fs.Syncable

/** A file that receives no byte after the death of its run. Bytes in a buffer before this stream are lost then, as with
  * SIGKILL.
  */
final private[splice] class KillingOutput(file: OutputStream, name: String, run: KillRun)
    extends OutputStream
    with Syncable {

  override def write(byte: Int): Unit = {
    run.requireLife(name)
    file.write(byte)
  }

  override def write(bytes: Array[Byte], offset: Int, length: Int): Unit = {
    run.requireLife(name)
    file.write(bytes, offset, length)
  }

  override def flush(): Unit = file.flush()

  override def hflush(): Unit = sync(_.hflush())

  override def hsync(): Unit = sync(_.hsync())

  override def close(): Unit = file.close()

  private def sync(call: Syncable => Unit): Unit = file match {
    case syncable: Syncable => call(syncable)
    case _                  => file.flush()
  }
}
