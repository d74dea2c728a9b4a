// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.streams

import java.util.UUID

import splice.source.options.SourceOptions
import splice.source.{Position, Source, SourceProvider}
import splice.streams.fake.{FakeLog, FakeProvider}
import splice.testkit.SourceContract

/** The contract for a stream with all interfaces. */
final class StreamsContractSuite extends StreamsContract()

/** The contract for a stream whose partitions are column batches. */
final class ColumnarStreamsContractSuite extends StreamsContract("columnar" -> "true")

/** The contract for a stream that ends. */
final class BoundedStreamsContractSuite extends StreamsContract("bounded" -> "true")

/** The contract for a stream with a limit and without Trigger.AvailableNow. */
final class AdmittedStreamsContractSuite extends StreamsContract("stream" -> "admitted")

/** The contract for a stream without a limit. */
final class PlainStreamsContractSuite extends StreamsContract("stream" -> "plain")

abstract class StreamsContract(more: (String, String)*) extends SourceContract with LocalSpark {

  override protected def plansAreOpaque: Boolean = true

  override protected def world(): World = new World {
    private val log = new FakeLog(UUID.randomUUID().toString)

    grow()

    override def source(): Source[_ <: Position] = SourceProvider.create(
      SourceOptions(Map("source" -> "stream", "format" -> FakeProvider.Format, "log" -> log.name) ++ more)
    )

    override def grow(): Unit = log.grow(10)
  }
}
