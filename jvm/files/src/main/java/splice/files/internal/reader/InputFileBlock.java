// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.files.internal.reader;

import org.apache.spark.rdd.InputFileBlockHolder;

/**
 * Sets the block that {@code input_file_name()}, {@code input_file_block_start()} and {@code
 * input_file_block_length()} return in a task.
 *
 * <p>This class is in Java, because Scala rejects access to members that are private to Spark.
 */
final class InputFileBlock {

    private InputFileBlock() {}

    static void set(String path, long start, long length) {
        InputFileBlockHolder.set(path, start, length);
    }

    static void unset() {
        InputFileBlockHolder.unset();
    }
}
