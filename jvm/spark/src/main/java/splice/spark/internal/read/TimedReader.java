// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.read;

import java.io.IOException;

import org.apache.spark.sql.connector.read.streaming.SupportsRealTimeRead;

/**
 * A reader whose calls have a time limit, for Spark's real-time mode.
 *
 * <p>Spark 4.1 and Spark 4.2 have different methods {@code nextWithTimeout}, and Spark 4.3 has both methods. A class
 * with both methods runs on all three versions if neither method is declared as an override. Scala requires this
 * declaration, so the class is in Java.
 */
abstract class TimedReader<T> implements SupportsRealTimeRead<T> {

  // A status is immutable, so all rows share two objects.
  private static final RecordStatus FOUND = RecordStatus.newStatusWithoutArrivalTime(true);
  private static final RecordStatus NOT_FOUND = RecordStatus.newStatusWithoutArrivalTime(false);

  /** Moves to the next row. Returns false if no row is available within the time limit. */
  abstract boolean poll(long timeoutMillis) throws IOException;

  public RecordStatus nextWithTimeout(Long timeoutMillis) throws IOException {
    return status(timeoutMillis);
  }

  public RecordStatus nextWithTimeout(Long startMillis, Long timeoutMillis) throws IOException {
    return status(timeoutMillis);
  }

  private RecordStatus status(long timeoutMillis) throws IOException {
    return poll(timeoutMillis) ? FOUND : NOT_FOUND;
  }
}
