// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.coordinator

/** Drives any source for Spark's streams and bounded reads. Users and authors of sources do not call this module. */
package object internal
