// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.read;

import java.io.IOException;

import org.apache.spark.sql.connector.read.streaming.SupportsRealTimeRead;

/**
 * A reader whose calls have a time limit, for Spark's real-time mode.
 *
 * <p>Spark 4.1 has one method {@code nextWithTimeout}, Spark 4.2 another one, and Spark 4.3 both. A class with both methods runs on all of
 * them, if neither is declared as an override, which Scala demands.
 */
abstract class TimedReader<T> implements SupportsRealTimeRead<T> {

  /** Moves to the next row; false if there is none before the time is over. */
  abstract boolean poll(long timeoutMillis) throws IOException;

  public RecordStatus nextWithTimeout(Long timeoutMillis) throws IOException {
    return RecordStatus.newStatusWithoutArrivalTime(poll(timeoutMillis));
  }

  public RecordStatus nextWithTimeout(Long startMillis, Long timeoutMillis) throws IOException {
    return RecordStatus.newStatusWithoutArrivalTime(poll(timeoutMillis));
  }
}
