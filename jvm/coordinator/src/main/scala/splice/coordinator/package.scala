// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice

/** Drives any source for Spark's streams and bounded reads. The package is internal: it has no API for users or for
  * authors of sources. Therefore it has no separate package `internal`. Its classes are visible inside `splice` only.
  */
package object coordinator
