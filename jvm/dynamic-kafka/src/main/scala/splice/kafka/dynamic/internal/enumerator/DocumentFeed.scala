// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator

import scala.collection.immutable.SortedMap
import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import splice.kafka.dynamic.internal.change.Rejection
import splice.kafka.dynamic.internal.errors.MetadataErrors
import splice.kafka.dynamic.internal.metadata.MetadataDiscovery
import splice.kafka.dynamic.internal.state.{AppliedMetadata, DocumentEntries}
import splice.kafka.dynamic.{KafkaCluster, StreamMetadata}
import splice.source.errors.SpliceError

/** Documents that the metadata service returned in this run, and the greatest generation of all runs.
  *
  * @param entries
  *   stores the generations of documents that cause no change
  * @param stored
  *   returns the clusters of the checkpoint
  */
final private[splice] class DocumentFeed(
    discovery: MetadataDiscovery,
    entries: DocumentEntries,
    stored: => SortedMap[String, KafkaCluster]
) {

  private var requested      = false
  @volatile private var last = Option.empty[StreamMetadata]
  private var fresh          = false
  private var polled         = false
  private var open           = Option.empty[StreamMetadata]
  private var greatest       = entries.greatest
  private var checked        = Option.empty[(StreamMetadata, Int, Option[Rejection])]

  /** Returns the document with changes that are not applied yet. The document remains pending until Splice has applied
    * it completely, or rejected it.
    */
  def pending: Option[StreamMetadata] = open

  /** Keeps the pending document only if the document fulfils a condition. */
  def keepIf(condition: StreamMetadata => Boolean): Unit = open = open.filter(condition)

  /** Returns the first document of a checkpoint. The query cannot start without this document. */
  def first(): StreamMetadata = {
    val document = discovery.now()
    requested = true
    polled = true
    last = Some(document)
    document
  }

  /** Returns the latest valid document of this run; None if the service has not returned a valid document yet. */
  def latest(): Option[StreamMetadata] = {
    val document =
      if (requested) discovery.news()
      else {
        requested = true
        // The checkpoint contains the last document, so that a query can start while the service is unavailable.
        try Some(discovery.now(Some(stored)))
        catch {
          // The driver reports the error of an invalid document.
          case MetadataErrors.InvalidMetadata(_) => None
          case NonFatal(e)                       =>
            DocumentFeed.logger.warn(s"The query continues with the metadata of the checkpoint: ${SpliceError.text(e)}")
            None
        }
      }
    last = document.orElse(last)
    fresh ||= document.nonEmpty
    last
  }

  /** Returns true if a document arrived since [[poll]] that differs from the last document and from a state. Any thread
    * may call this method.
    */
  def isStale(applied: AppliedMetadata): Boolean =
    discovery.next.exists(document => !last.contains(document) && !applied.equalsDocument(document))

  /** Makes the latest document the pending document, if the latest document is new.
    *
    * @param fixed
    *   true if the run reads a document only once
    */
  def poll(fixed: Boolean): Unit = if (!fixed || !polled) {
    if (polled) discovery.requireResponses()
    polled = true
    val document = latest()
    if (fresh) open = document
    fresh = false
  }

  /** Returns the state with the latest client properties of clusters, because a batch that is read again may have been
    * planned with other passwords. If the rules reject a document, the document has no effect, also in the time before
    * the rejection. The exception is a document that removes too many topics: only the client properties of this
    * document have an effect. `rejection` returns the reason to reject a document; None if the document is accepted.
    *
    * @param last
    *   number of the last change, against which a document is checked
    */
  def reached(applied: AppliedMetadata, last: Int)(rejection: StreamMetadata => Option[Rejection]): AppliedMetadata =
    latest().filter(older(applied, _).isEmpty).fold(applied) { document =>
      val clusters = reasonOf(document, last)(rejection) match {
        case None                       => applied.renewed(document)
        case Some(_: Rejection.TooMany) => applied.renewedProperties(document)
        case Some(_)                    => applied.clusters
      }
      if (clusters == applied.clusters) applied else applied.copy(clusters = clusters)
    }

  // The result is kept, so that a check of thousands of topics does not run at each trigger.
  private def reasonOf(document: StreamMetadata, last: Int)(
      rejection: StreamMetadata => Option[Rejection]
  ): Option[Rejection] =
    checked.collect { case (known, `last`, why) if known eq document => why }.getOrElse {
      val why = rejection(document)
      checked = Some((document, last, why))
      why
    }

  /** Records the generation of a document that is not rejected. */
  def accept(document: StreamMetadata): Unit = greatest = (greatest ++ document.generation).maxOption

  /** Stores the generation of a document that is accepted completely and causes no change.
    *
    * @param applied
    *   the state, whose generation is durable
    */
  def keep(document: StreamMetadata, applied: AppliedMetadata): Unit =
    document.generation.filter(found => applied.generation.forall(_ < found)).foreach(entries.store)

  /** Returns the reason for a rejection if a document has a lower generation than an earlier document. */
  def older(applied: AppliedMetadata, document: StreamMetadata): Option[Rejection] =
    Rejection.older((greatest ++ applied.generation).maxOption, document)
}

private object DocumentFeed {
  private val logger = LoggerFactory.getLogger(classOf[DocumentFeed])
}
