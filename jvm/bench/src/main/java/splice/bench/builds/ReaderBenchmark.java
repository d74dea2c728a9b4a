// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.bench.builds;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.Blackhole;

import splice.hybrid.internal.chain.LegErrors;
import splice.hybrid.internal.reader.ViewReader;
import splice.hybrid.internal.reader.ViewRow;
import splice.kafka.dynamic.internal.reader.DynamicColumns;
import splice.kafka.dynamic.internal.reader.Origin;
import splice.kafka.dynamic.internal.reader.ProvenancePlan;
import splice.kafka.dynamic.internal.reader.ProvenanceRow;
import splice.kafka.dynamic.internal.reader.ProvenanceRowReader;
import splice.source.SplitReader;
import splice.spark.internal.read.SplicePartitionReader;

/**
 * Benchmark of the readers of a task over records in memory. The score is the time per row.
 *
 * <p>Each reader is in a {@link SplicePartitionReader}, which the benchmark reads through Spark's interface. The
 * interface is the same in every build, even if the methods of the readers differ. Both builds therefore run this
 * bytecode without reflection, and the cost of the wrapper is included.
 *
 * <p>This class is in Java, because Scala rejects access to readers that are private to their packages.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class ReaderBenchmark {

    // The records fit into the cache of a core, so memory traffic of other processes does not affect the time.
    private static final int ROWS = 10_000;

    private static final int VALUE = 1;
    private static final int TOPIC = 2;
    private static final int OFFSET = 4;

    private final InMemoryTopic topic = new InMemoryTopic(ROWS);
    private final ViewRow view = new ViewRow(topic.view());
    private final int columns = topic.schema().length();
    private final ProvenancePlan plan = ProvenancePlan.apply(withOrigin(topic.schema()), topic.schema()).get();
    private final ProvenanceRow originRow = new ProvenanceRow(plan, new Origin("east", topic.streams()));

    /** Records of Kafka as rows. */
    @Benchmark
    @OperationsPerInvocation(ROWS)
    public long rows(Blackhole hole) throws IOException {
        return readRows(topic.rowReader(), VALUE, OFFSET, TOPIC, hole);
    }

    /** Records of Kafka as column batches. */
    @Benchmark
    @OperationsPerInvocation(ROWS)
    public long columns(Blackhole hole) throws IOException {
        long rows = 0;
        try (PartitionReader<ColumnarBatch> reader = new SplicePartitionReader<>(topic.batchReader())) {
            while (reader.next()) {
                ColumnarBatch batch = reader.get();
                ColumnVector value = batch.column(VALUE);
                ColumnVector offset = batch.column(OFFSET);
                ColumnVector text = batch.column(TOPIC);
                for (int i = 0; i < batch.numRows(); i++) {
                    hole.consume(value.getBinary(i));
                    hole.consume(offset.getLong(i));
                    hole.consume(text.getUTF8String(i));
                }
                rows += batch.numRows();
            }
        }
        return all(rows);
    }

    /** Rows of the dynamic source with the columns of their origin. */
    @Benchmark
    @OperationsPerInvocation(ROWS)
    public long originRows(Blackhole hole) throws IOException {
        return readRows(new ProvenanceRowReader(topic.rowReader(), originRow), VALUE, OFFSET, columns + 1, hole);
    }

    /** Rows of a hybrid's leg whose {@code select} is a view. */
    @Benchmark
    @OperationsPerInvocation(ROWS)
    public long viewRows(Blackhole hole) throws IOException {
        int last = columns - 1;
        var reader = new ViewReader(new LegErrors("live", "kafka"), topic.rowReader(), view);
        return readRows(reader, last - VALUE, last - OFFSET, columns, hole);
    }

    /** Rows of several readers that are open at the same time. */
    @Benchmark
    @OperationsPerInvocation(ROWS)
    public long sequence(Blackhole hole) throws IOException {
        return readRows(topic.sequence(), VALUE, OFFSET, TOPIC, hole);
    }

    private static long readRows(SplitReader<InternalRow> rows, int value, int offset, int text, Blackhole hole)
            throws IOException {
        long read = 0;
        try (PartitionReader<InternalRow> reader = new SplicePartitionReader<>(rows)) {
            while (reader.next()) {
                InternalRow row = reader.get();
                hole.consume(row.getBinary(value));
                hole.consume(row.getLong(offset));
                hole.consume(row.getUTF8String(text));
                read++;
            }
        }
        return all(read);
    }

    private static long all(long rows) {
        if (rows != ROWS) {
            throw new IllegalStateException(rows + " rows were read of " + ROWS);
        }
        return rows;
    }

    private static StructType withOrigin(StructType records) {
        StructType result = records;
        for (StructField field : DynamicColumns.all().fields()) {
            result = result.add(field);
        }
        return result;
    }
}
