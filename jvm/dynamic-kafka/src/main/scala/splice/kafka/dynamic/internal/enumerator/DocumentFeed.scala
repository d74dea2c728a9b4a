// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.kafka.dynamic.internal.enumerator

import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import splice.kafka.dynamic.StreamMetadata
import splice.kafka.dynamic.internal.change.Refusal
import splice.kafka.dynamic.internal.metadata.MetadataDiscovery
import splice.kafka.dynamic.internal.state.AppliedMetadata

/** The documents that the metadata service returned in this run. */
final private[splice] class DocumentFeed(discovery: MetadataDiscovery) {

  private var requested          = false
  @volatile private var last = Option.empty[StreamMetadata]
  private var fresh          = false
  private var polled         = false
  private var open           = Option.empty[StreamMetadata]
  private var greatest       = Option.empty[Long]
  private var checked        = Option.empty[(StreamMetadata, Int, Boolean)]

  /** The document with changes that are not applied yet, until it is applied as a whole or rejected. */
  def pending: Option[StreamMetadata] = open

  /** Keeps the pending document only if it fulfils a condition. */
  def keepIf(condition: StreamMetadata => Boolean): Unit = open = open.filter(condition)

  /** The first document of a checkpoint, which the query cannot start without. */
  def first(): StreamMetadata = {
    val found = discovery.now()
    requested = true
    polled = true
    last = Some(found)
    found
  }

  /** The latest document of this run; None while the service has returned none. */
  def latest(): Option[StreamMetadata] = {
    val found =
      if (requested) discovery.news()
      else {
        requested = true
        // The last document is in the checkpoint, so that a query starts while the service is unavailable.
        try Some(discovery.now(restarts = true))
        catch {
          case NonFatal(e) =>
            DocumentFeed.logger.warn(s"The query continues with the metadata of the checkpoint: ${e.getMessage}")
            None
        }
      }
    last = found.orElse(last)
    fresh ||= found.nonEmpty
    last
  }

  /** Whether a document was received since [[poll]] that differs from the last one and from a state. Any thread may call it. */
  def isStale(here: AppliedMetadata): Boolean =
    discovery.next.exists(found => !last.contains(found) && !here.equalsDocument(found))

  /** Takes the latest document as the pending one, if it is new.
    *
    * @param fixed
    *   whether the run takes a document only once
    */
  def poll(fixed: Boolean): Unit = if (!fixed || !polled) {
    if (polled) discovery.requireResponses()
    polled = true
    val found = latest()
    if (fresh) open = found
    fresh = false
  }

  /** The state with the latest properties of clusters: a batch that is read again may have been planned with other passwords. A rejected
    * document has no effect, also before it is rejected.
    *
    * @param last
    *   the last change, by which a document is rejected
    * @param refusal
    *   why a document is rejected, if it is
    */
  def reached(here: AppliedMetadata, last: Int)(refusal: StreamMetadata => Option[Refusal]): AppliedMetadata =
    latest().filter(older(here, _).isEmpty).filter(isAccepted(_, last)(refusal)).fold(here) { found =>
      val clusters = here.renewed(found)
      if (clusters == here.clusters) here else here.copy(clusters = clusters)
    }

  // The check of thousands of topics is not repeated at each trigger.
  private def isAccepted(found: StreamMetadata, last: Int)(refusal: StreamMetadata => Option[Refusal]): Boolean =
    checked.collect { case (known, `last`, is) if known eq found => is }.getOrElse {
      val is = refusal(found).isEmpty
      checked = Some((found, last, is))
      is
    }

  /** Notes the generation of a document that is not rejected. A document without a difference makes no change. */
  def accept(found: StreamMetadata): Unit = greatest = (greatest ++ found.generation).maxOption

  /** Why a document is rejected, if its generation is lower than that of an earlier one. */
  def older(here: AppliedMetadata, found: StreamMetadata): Option[Refusal] =
    Refusal.older((greatest ++ here.generation).maxOption, found)
}

private object DocumentFeed {
  private val logger = LoggerFactory.getLogger(classOf[DocumentFeed])
}
