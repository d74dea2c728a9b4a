// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.testkit.internal.kill

import java.net.URI

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.DelegateToFileSystem

/** [[KillingFileSystem]] for `FileContext` (`fs.AbstractFileSystem.kill.impl`). Spark and the side log rename files
  * with `FileContext`.
  */
final private[splice] class KillingFileContext(root: URI, configuration: Configuration)
    extends DelegateToFileSystem(root, new KillingFileSystem, configuration, KillingFileSystem.Scheme, false)
