// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.reference

import splice.source.internal.entries.Json
import splice.source.options.{OptionSet, SourceOption}

/** Every option of every connector as JSON, which the wheel has and the Python package reads. */
object OptionsFile {

  def text: String = s"${Json.write(Json.obj(OptionsPage.sets.map(set => set.title -> options(set)): _*))}\n"
    .replace("},\"", "},\n\"")

  private def options(set: OptionSet) = Json.obj(set.options.map(option => option.key -> declared(option)): _*)

  private def declared(option: SourceOption[_]) = Json.obj(
    Seq("allowed" -> Json.text(option.kind.allowed)) ++ option.default.map(d => "default" -> Json.text(d._2)): _*
  )
}
