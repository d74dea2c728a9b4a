// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.enumerator

import java.time.{Clock, Duration, Instant}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.types.StructType
import org.slf4j.LoggerFactory

import splice.files.FileSource
import splice.files.internal.errors.FileErrors
import splice.files.internal.listing.{ColumnChange, EventTimeOrder, Footer, Footers}
import splice.files.internal.options.{FileOptions, FileOrder, WatchOptions}
import splice.files.internal.reader.FileReaders
import splice.files.internal.session.FileFormats
import splice.files.internal.settings.WatchSettings
import splice.files.internal.split.{FileSchemas, ListedFile, Packing}
import splice.files.internal.watch.{FolderLister, HadoopLister, LateLimit, WatchPolicies}
import splice.source.errors.{SpliceException, SpliceOptionException}
import splice.source.internal.{PinnedSession, Secrets}
import splice.source.options.FailOrWarn
import splice.source.runtime.{Jobs, SessionSettings}
import splice.source.{EnumeratorContext, ReadMode, SplitReaderFactory}

/** Interface of the enumerator to storage. Tests replace the storage by a simulated folder. */
private[splice] trait FileStorage {

  /** Lists the current files, with all other values that the first start of a query fixes. */
  def list(context: EnumeratorContext): FileList

  /** Error for a setting that differs from the setting of a persisted list and affects the reading of its files. */
  def difference(list: FileList): Option[SpliceException] = None

  /** Reads the footers of files in one job; None if the format has no footers. */
  def footers(files: Seq[ListedFile], jobs: Jobs): Option[Seq[Either[String, Footer]]] = None

  /** Readers of listed files. */
  def readers(columns: StructType, schemas: FileSchemas): SplitReaderFactory

  /** Storage of a watched folder; None if the source lists the files once. */
  def watched: Option[WatchedStorage] = None

  /** Error for `discovery` if it differs from the first start.
    *
    * @param wasWatched
    *   true if the first start watched the folder
    */
  def discoveryChanged(wasWatched: Boolean): SpliceOptionException =
    FileErrors.discoveryChanged(wasWatched, WatchOptions.Discovery.key)
}

/** Storage that Spark lists and reads. */
final private[files] class SparkStorage(source: FileSource, pinned: SessionSettings) extends FileStorage {

  private def settings = source.settings

  private lazy val session = new PinnedSession(pinned)

  private lazy val reading = new FileReaders(settings, session)

  override def list(context: EnumeratorContext): FileList = session.run {
    val listing = source.listing(context.mode)
    val files   = settings.users.guarded(listing.files)
    SparkStorage.logger.info("{} files found at {}", files.size, settings.shownPaths.mkString(", "))
    val warnings = settings.users.guarded(listing.warnings)
    warnings.foreach(SparkStorage.logger.warn(_))
    if (files.isEmpty) rejectEmpty(
      context.mode,
      "Splice stores the empty list, so the query never reads files that arrive later. To wait for files, set " +
        s"'${settings.name(FileOptions.Empty.key)}' to 'fail' and start with a new checkpoint."
    )
    val ordered = inOrder(files, listing.schemas, context)
    val late    = ordered.delay.map(lateText)
    late.foreach(SparkStorage.logger.warn(_))
    val packing = this.packing(context)
    val delay   = Option.when(settings.order.isByTime)(ordered.delay.fold(Duration.ZERO)(_.needed))
    new FileList(listing.schemas, packing, ordered.files, settings.reader, warnings ++ late, delay, listing.batch)
  }

  private def inOrder(files: IndexedSeq[ListedFile], schemas: FileSchemas, context: EnumeratorContext) =
    settings.order match {
      case FileOrder.EventTime(column) =>
        EventTimeOrder.of(settings, column, schemas, files)(footers(files, context.jobs))
      case FileOrder.Path | FileOrder.ModificationTime => EventTimeOrder(files, None)
    }

  private def packing(context: EnumeratorContext): Packing = {
    val conf = FileFormats.conf(SparkSession.active)
    Packing(
      settings.maxPartitionBytes.getOrElse(conf.filesMaxPartitionBytes),
      conf.filesOpenCostInBytes,
      conf.filesMinPartitionNum.getOrElse(context.cores).max(1)
    )
  }

  private def lateText(delay: EventTimeOrder.Delay): String = {
    def shown(file: ListedFile) = Secrets.redact(FileOptions.Path.key, file.path)
    s"A watermark needs a delay of at least ${delay.needed.toMillis} ms, or rows of these files are late: " +
      s"${shown(delay.earlier._1)} ends at ${delay.earlier._2}, and ${shown(delay.later._1)}, which is read later, " +
      s"begins at ${delay.later._2}."
  }

  override def difference(list: FileList): Option[SpliceException] = {
    val options = list.reader.difference(settings.reader).map { case (option, before, now) =>
      FileErrors.readerOptionChanged(settings.name(option), before, now)
    }
    def columns = settings.schema.flatMap(ColumnChange.ofGiven(_, list.schemas, settings.kind))
      .orElse(source.analysed.flatMap(now => ColumnChange.ofTypes(now.rows, list.schemas, settings.kind)))
    options.orElse(columns.map(error(_, list.schemas)))
  }

  override def footers(files: Seq[ListedFile], jobs: Jobs): Option[Seq[Either[String, Footer]]] = session.run {
    Footers.read(settings, FileFormats.configuration(SparkSession.active, settings.spark.originalMap), files, jobs)
  }

  private def error(change: ColumnChange, listed: FileSchemas): SpliceException =
    FileErrors.columnChanged(
      change.name,
      change.before,
      change.now,
      settings.paths,
      settings.name(FileOptions.Schema.key),
      listed.rows.toDDL
    )

  /** @param ofStream
    *   effect of an empty list in a stream
    */
  private def rejectEmpty(mode: ReadMode, ofStream: String): Unit = settings.onEmpty match {
    case FailOrWarn.Fail => throw FileErrors.noFiles(settings.paths, settings.name)
    case FailOrWarn.Warn =>
      val effect = mode match {
        case ReadMode.Batch  => "The source has no rows."
        case ReadMode.Stream => ofStream
      }
      SparkStorage.logger.warn("No file matches {}. {}", settings.shownPaths.mkString(", "), effect)
  }

  override def readers(columns: StructType, schemas: FileSchemas): SplitReaderFactory = {
    ColumnChange.ofTypes(columns, schemas, settings.kind).foreach(change => throw error(change, schemas))
    reading.of(columns, schemas)
  }

  override def discoveryChanged(wasWatched: Boolean): SpliceOptionException =
    FileErrors.discoveryChanged(wasWatched, settings.name(WatchOptions.Discovery.key))

  override def watched: Option[WatchedStorage] = settings.watch.map(new SparkWatch(_))

  final private class SparkWatch(val watch: WatchSettings) extends WatchedStorage {

    override def policies: WatchPolicies =
      WatchPolicies(
        settings.onFileChanged,
        file => FileErrors.listedFileChanged(file.path, file.previous, file.current, settings.name),
        FileErrors.lateFiles(_, _, mostKnown, settings.name)
      )

    override def mostKnown: Int = LateLimit.Most

    override def lister(stored: Option[FileSchemas]): FolderLister =
      new HadoopLister(settings, watch, new PinnedSession(pinned), Clock.systemUTC(), stored)(source.columns)

    override def segment(
        files: IndexedSeq[ListedFile],
        last: Option[FileList],
        lister: FolderLister,
        context: EnumeratorContext
    ): FileList = session.run {
      val schemas = last.map(_.schemas).orElse(lister.schemas).getOrElse(source.columns)
      val ordered = inOrder(files, schemas, context).files
      // The empty segment ends the list, so it has the last batch of a sink.
      new FileList(
        schemas,
        last.fold(packing(context))(_.packing),
        ordered,
        last.fold(settings.reader)(_.reader),
        batch = lister.batch.filter(_ => files.isEmpty)
      )
    }

    override def rejectEmpty(context: EnumeratorContext): Unit =
      SparkStorage.this.rejectEmpty(context.mode, "Splice waits for files.")

    override def failed(since: Instant, error: Throwable): SpliceException =
      FileErrors.listingsFailed(since, error, settings.name(WatchOptions.DiscoveryTimeout.key))
  }
}

private object SparkStorage {
  private val logger = LoggerFactory.getLogger(classOf[SparkStorage])
}
