// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.source

import java.net.URLClassLoader
import java.nio.file.{Files, Path}

import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

import splice.source.options.{OptionSet, SourceOptions}

/** The class loaders that supply connectors. */
final class SourceProviderSuite extends AnyFunSuite {

  private val own = classOf[SourceProvider].getClassLoader

  test("a connector of the context class loader is registered, once") {
    assert(kinds(Some(own)).isEmpty)
    Using.resource(added(own)) { loader =>
      assert(kinds(Some(loader)) == Seq("added"))
      Using.resource(new URLClassLoader(Array.empty, loader))(child => assert(kinds(Some(child)) == Seq("added")))
      assert(kinds(Some(own)).isEmpty && kinds(None).isEmpty)
    }
  }

  test("a context class loader without Splice, or with another copy of Splice, is ignored") {
    Using.resource(added(ClassLoader.getPlatformClassLoader))(loader => assert(kinds(Some(loader)).isEmpty))
    Using.resource(new SourceProviderSuite.Copy(services, own)) { loader =>
      assert(loader.loadClass(classOf[SourceProvider].getName) != classOf[SourceProvider])
      assert(kinds(Some(loader)).isEmpty)
    }
  }

  test("a connector that cannot be loaded does not hide the other connectors") {
    val folder = registering("missing.Connector", classOf[SourceProviderSuite.Added].getName, "missing.Other")
    Using.resource(new URLClassLoader(Array(folder.toUri.toURL), own)) { loader =>
      assert(kinds(Some(loader)) == Seq("added"))
    }
  }

  private def added(parent: ClassLoader): URLClassLoader = new URLClassLoader(Array(services.toUri.toURL), parent)

  private lazy val services: Path = registering(classOf[SourceProviderSuite.Added].getName)

  /** A folder that registers connectors, as the jar of a connector does. */
  private def registering(classes: String*): Path = {
    val folder = Files.createTempDirectory("splice-sources")
    val file   = folder.resolve(s"META-INF/services/${classOf[SourceProvider].getName}")
    val _      = Files.createDirectories(file.getParent)
    Files.writeString(file, classes.mkString("\n"))
    folder
  }

  private def kinds(context: Option[ClassLoader]): Seq[String] = {
    val thread = Thread.currentThread
    val before = thread.getContextClassLoader
    thread.setContextClassLoader(context.orNull)
    try SourceProvider.all.map(_.kind)
    finally thread.setContextClassLoader(before)
  }
}

private object SourceProviderSuite {

  final class Added extends SourceProvider {
    override def kind: String                                          = "added"
    override def options: OptionSet                                    = OptionSet("Added", Nil)
    override def create(options: SourceOptions): Source[_ <: Position] = throw new UnsupportedOperationException(kind)
  }

  /** Loads its own copy of the interface, as a loader that prefers the jars of the user does. */
  final private class Copy(folder: Path, parent: ClassLoader)
      extends URLClassLoader(
        Array(folder.toUri.toURL, classOf[SourceProvider].getProtectionDomain.getCodeSource.getLocation),
        parent
      ) {

    override def loadClass(name: String, resolve: Boolean): Class[_] =
      if (name.startsWith("splice.")) Option(findLoadedClass(name)).getOrElse(findClass(name))
      else super.loadClass(name, resolve)
  }
}
