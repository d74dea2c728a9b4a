// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source.runtime

import java.util.jar.JarFile

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.{Try, Using}

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.datasources.FileFormat
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.DataType
import org.apache.xbean.asm9.{ClassReader, ClassVisitor, MethodVisitor, Opcodes}
import org.scalatest.funsuite.AnyFunSuite

/** Compares the pinned settings with the settings that Spark's readers, casts and expressions read in their byte code.
  */
final class PinnedKeysSuite extends AnyFunSuite {

  private val Conf = classOf[SQLConf].getName.replace('.', '/')
  private val Api  = "org/apache/spark/sql/internal/SqlApiConf"

  /** Packages whose code determines the values of rows. */
  private val readers = Seq(
    "org/apache/spark/sql/catalyst/analysis/TypeCoercion",
    "org/apache/spark/sql/catalyst/analysis/AnsiTypeCoercion",
    "org/apache/spark/sql/catalyst/analysis/DecimalPrecision",
    "org/apache/spark/sql/catalyst/csv/",
    "org/apache/spark/sql/catalyst/json/",
    "org/apache/spark/sql/catalyst/expressions/",
    "org/apache/spark/sql/catalyst/parser/",
    "org/apache/spark/sql/catalyst/util/",
    "org/apache/spark/sql/execution/datasources/csv/",
    "org/apache/spark/sql/execution/datasources/json/",
    "org/apache/spark/sql/execution/datasources/orc/",
    "org/apache/spark/sql/execution/datasources/parquet/",
    "org/apache/spark/sql/execution/datasources/text/"
  )

  /** The calls of each method of a class file, as owner and name of the callee. */
  private def calls(bytes: Array[Byte]): Map[String, Set[(String, String)]] = {
    val found = mutable.Map.empty[String, Set[(String, String)]].withDefaultValue(Set.empty)
    new ClassReader(bytes).accept(
      new ClassVisitor(Opcodes.ASM9) {
        override def visitMethod(a: Int, method: String, d: String, s: String, e: Array[String]): MethodVisitor =
          new MethodVisitor(Opcodes.ASM9) {
            override def visitMethodInsn(op: Int, owner: String, name: String, kind: String, i: Boolean): Unit =
              found(method) = found(method) + (owner -> name)
          }
      },
      ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES
    )
    found.toMap
  }

  private def jar(of: Class[_]): String = of.getProtectionDomain.getCodeSource.getLocation.getPath

  private def classes[A](of: Class[_])(body: (String, Array[Byte]) => A): Seq[A] =
    Using.resource(new JarFile(jar(of))) { jar =>
      jar.entries.asScala.filter(_.getName.endsWith(".class")).map { entry =>
        body(entry.getName, Using.resource(jar.getInputStream(entry))(_.readAllBytes()))
      }.toVector
    }

  /** Key of each entry by its name in the object `SQLConf`. */
  private lazy val entries: Map[String, String] = SQLConf.getClass.getMethods.toSeq.filter { method =>
    method.getParameterCount == 0 && method.getReturnType.getName.contains("ConfigEntry")
  }.flatMap { method =>
    val entry = method.invoke(SQLConf)
    // Spark hides the type of the entry.
    Try(method.getName -> entry.getClass.getMethod("key").invoke(entry).toString).toOption
  }.toMap

  /** Keys that each getter of `SQLConf` reads. */
  private lazy val getters: Map[String, Set[String]] = {
    val bytes = Using.resource(getClass.getClassLoader.getResourceAsStream(s"$Conf.class"))(_.readAllBytes())
    calls(bytes).map { case (method, callees) =>
      method -> callees.collect { case (owner, name) if owner == s"$Conf$$" => entries.get(name) }.flatten
    }
  }

  private def keys(callees: Set[(String, String)]): Set[String] = callees.flatMap {
    case (owner, name) if owner == s"$Conf$$"           => entries.get(name).toSet
    case (owner, name) if owner == Conf || owner == Api => getters.getOrElse(name, Set.empty)
    case _                                              => Set.empty[String]
  }

  test("each setting that determines values is pinned") {
    val read = Seq(classOf[DataType], classOf[Expression], classOf[FileFormat]).flatMap { of =>
      classes(of) { (name, bytes) =>
        if (readers.exists(name.startsWith)) calls(bytes).values.flatMap(keys).map(_ -> name).toSeq else Nil
      }.flatten
    }.groupMap(_._1)(_._2)
    assert(read.contains(SQLConf.SESSION_LOCAL_TIMEZONE.key) && read.size > 50)
    val open = read.removedAll(SessionSettings.keys).filterNot { case (key, in) =>
      in.forall(PinnedKeysSuite.isAggregate) || PinnedKeysSuite.Others.matches(key.stripPrefix("spark.sql."))
    }.toSeq.sortBy(_._1)
    assert(open.isEmpty, open.map { case (key, in) => s"$key: ${in.distinct.take(3).mkString(", ")}" }.mkString("\n"))
  }
}

private object PinnedKeysSuite {

  private def isAggregate(path: String): Boolean = path.contains("/aggregate/")

  /** Keys without their prefix that do not change the value of an expression or of a column. */
  private val Others = Seq(
    // speed, memory and logs
    "(alwaysInlineCommonExpr|codegen|columnVector|debug|mapZipWith|maxPlanString|optimizer|subexpression|planChange).*",
    "(csv|json|parquet|orc)\\.(.*[pP]ushdown|recordLevelFilter|.*VectorizedReader|columnar|useUnsafeRow).*",
    "analyzer\\.canonicalization.*|csv.parser.inputBufferSize",
    // writers
    "(orc|parquet)\\..*([wW]rite|codec|output|annotateLogicalType|respectSummaryFiles).*|sources.outputCommitterClass",
    "variant\\..*[sS]hredding.*",
    // statements, relations, subqueries and aliases
    "(insertInto|scripting|defaultColumn|groupBy|orderBy|listagg|collation|dataSource|operatorPipe|stableDerived)\\.?.*",
    "legacy\\.(groupingId|identifierClause|inSubquery|integerGrouping|keepPartition|notReserve|parameterSub).*",
    "legacy\\.(parseNull|parseQuery|parser|setops|view).*|parser\\.(eagerEval|manage|parserDfa|singleCharacter).*",
    "analyzer\\.scalarSubquery.*|ansi.relationPrecedence|storeAssignmentPolicy",
    // expressions that are accepted or rejected
    "allowNamedFunctionArguments|ansi.enforceReservedKeywords|geospatial.enabled|timeType.enabled",
    "legacy\\.(allowHashOnMapType|allowZeroIndexInFormatString|raiseErrorWithoutErrorClass)"
  ).mkString("|").r
}
