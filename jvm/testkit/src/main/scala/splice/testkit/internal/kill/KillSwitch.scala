// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.kill

import java.nio.file.Path
import java.util.concurrent.atomic.AtomicReference

/** The runs of this process, by the folders of their files. Thread-safe.
  *
  * A process of a test is one run. Its environment variable `SPLICE_KILL_AT` contains [[KillPlan]]s, one per line. The
  * variables `SPLICE_KILL_TRACE` and `SPLICE_KILL_ROWS` contain the files of [[KillRun]]. The session of the tests has
  * successive runs, which Python begins.
  */
private[splice] object KillSwitch {

  private val ofProcess = {
    def file(name: String) = sys.env.get(name).map(Path.of(_))
    val plans              = read(sys.env.getOrElse("SPLICE_KILL_AT", ""))
    new KillRun("", "", plans, file("SPLICE_KILL_TRACE"), file("SPLICE_KILL_ROWS"))
  }

  private val ofSession = new AtomicReference(List.empty[KillRun])

  /** Begins a run in this process, which replaces the previous run with the same files.
    *
    * @param name
    *   folder of the run, for `trace` and `rows`
    * @param folder
    *   folder with the files of the run
    * @param plans
    *   one [[KillPlan]] per line
    */
  def begin(name: String, folder: String, plans: String): Unit = {
    val run = new KillRun(name, folder, read(plans), Some(Path.of(name, "trace")), Some(Path.of(name, "rows")))
    val _   = ofSession.updateAndGet(run :: _.filterNot(_.folder == folder))
  }

  /** Ends a run at any step, as SIGKILL from another process does. */
  def die(name: String): Unit = named(name).foreach(_.die())

  def hasDied(name: String): Boolean = named(name).exists(_.isDead)

  /** Returns the run with a file. */
  def of(path: String): KillRun = ofSession.get.find(_.contains(path)).getOrElse(ofProcess)

  /** Returns a run by its name. The run of the process has an empty name.
    *
    * @throws Died
    *   if a later run has replaced the run
    */
  def run(name: String): KillRun =
    if (name.isEmpty) ofProcess else named(name).getOrElse(throw new Died(name))

  private def named(name: String) = ofSession.get.find(_.name == name)

  private def read(plans: String) = plans.linesIterator.map(KillPlan.read).toSeq
}
