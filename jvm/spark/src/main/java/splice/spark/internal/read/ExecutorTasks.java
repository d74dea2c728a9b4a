// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.read;

import org.apache.spark.SparkContext;

/**
 * The number of tasks that executors can run.
 *
 * <p>Spark declares the methods as private to its packages in Scala, so the class is in Java.
 */
public final class ExecutorTasks {

  private ExecutorTasks() {}

  /**
   * Returns the number of tasks that the registered executors can run at the same time, or 0 if no executor is
   * registered. {@code spark.default.parallelism} does not change this number.
   */
  public static int atSameTime(SparkContext context) {
    return context.maxNumConcurrentTasks(context.resourceProfileManager().defaultResourceProfile());
  }
}
