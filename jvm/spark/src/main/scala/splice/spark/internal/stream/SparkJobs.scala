// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.spark.internal.stream

import scala.reflect.ClassTag

import org.apache.spark.SparkContext

import splice.source.runtime.Jobs

/** Runs the work of an enumerator as Spark jobs of the query's thread, with one task per input. */
final private[spark] class SparkJobs(context: SparkContext) extends Jobs {

  override def run[A, B: ClassTag](inputs: Seq[A])(near: A => Seq[String])(task: A => B): Seq[B] =
    if (inputs.isEmpty) Nil
    else {
      // The RDD never creates an array with the element type of the inputs, so the class tag has no effect.
      val anyKind = ClassTag.Any.asInstanceOf[ClassTag[A]]
      val all     = context.makeRDD(inputs.map(input => (input, near(input))))(anyKind)
      all.setName(SparkJobs.Name).map(task).collect().toSeq
    }
}

private[spark] object SparkJobs {

  /** The name of the RDD of inputs in Spark's UI. */
  val Name = "splice enumerator"
}
