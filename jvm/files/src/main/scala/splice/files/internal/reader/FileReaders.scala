// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.reader

import java.util.{Collections, LinkedHashMap, Map => JMap}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.datasources.FileFormat
import org.apache.spark.sql.types.StructType
import org.apache.spark.util.SerializableConfiguration

import splice.files.internal.session.FileFormats
import splice.files.internal.settings.FileSettings
import splice.files.internal.split.FileSchemas
import splice.source.internal.PinnedSession
import splice.source.{SplitReader, SplitReaderFactory, TaskRanges}

/** Creates the readers of one run of a query. Readers are cached per set of columns, because each reader broadcasts a
  * Hadoop configuration.
  */
final private[files] class FileReaders(settings: FileSettings, session: PinnedSession) {

  private type Key = (StructType, FileSchemas)

  private val created: JMap[Key, FileReaderFactory] = Collections.synchronizedMap(
    new LinkedHashMap[Key, FileReaderFactory] {
      override def removeEldestEntry(eldest: JMap.Entry[Key, FileReaderFactory]): Boolean = size > FileReaders.Kept
    }
  )

  def of(columns: StructType, schemas: FileSchemas): FileReaderFactory =
    created.computeIfAbsent((columns, schemas), _ => session.run(make(ReadLayout(columns, schemas, settings.kind))))

  private def make(layout: ReadLayout): FileReaderFactory = {
    val spark         = SparkSession.active
    val format        = FileFormats.of(settings.kind)
    val columnar      = settings.kind.vectorized && format.supportBatch(spark, layout.returned)
    val configuration = FileFormats.configuration(spark, settings.spark.originalMap)
    val read          = format.buildReaderWithPartitionValues(
      spark,
      layout.data,
      layout.constants,
      layout.file,
      Nil,
      settings.spark + (FileFormat.OPTION_RETURNING_BATCH -> columnar.toString),
      configuration
    )
    val shipped = spark.sparkContext.broadcast(new SerializableConfiguration(configuration))
    new FileReaderFactory(layout, read, columnar, shipped, FilePolicy(settings), settings.users, session.settings)
  }
}

private object FileReaders {
  private val Kept = 8
}

/** Reader factory of a batch without files. */
private[files] case object NoReaders extends SplitReaderFactory {
  override def rows(task: TaskRanges): SplitReader[InternalRow] =
    throw new IllegalStateException(s"$task is a task, but the batch has no files")
}
