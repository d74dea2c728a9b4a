// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice

/** Drives any source for Spark's streams and bounded reads. The package is internal, without an API for users or
  * authors of sources. Therefore the package has no separate package `internal`. The classes of the package are visible
  * inside `splice` only.
  */
package object coordinator
