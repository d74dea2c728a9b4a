// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice

/** Internal: drives any source on behalf of Spark's streams and batches. It has no API for users or authors of sources,
  * so it has no package `internal`; its classes are visible inside `splice` only.
  */
package object coordinator
