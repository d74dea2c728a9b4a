// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import scala.Function0;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import splice.coordinator.internal.sidelog.HadoopSideLog;

/** Creates side-log entries. Arguments: {@code race} or {@code fail}, a folder, and Hadoop settings {@code key=value}.
 *
 * <p>The output is one line per round, or the error of the write that must fail, and then the files of the folder.
 */
public final class Entries {

  private static final int ROUNDS = 20;
  private static final int DRIVERS = 4;
  private static final int LARGE = 12 << 20;

  public static void main(String[] arguments) throws Exception {
    Configuration conf = new Configuration();
    for (int i = 2; i < arguments.length; i++) {
      String[] setting = arguments[i].split("=", 2);
      conf.set(setting[0], setting[1]);
    }
    Path folder = new Path(arguments[1]);
    if (arguments[0].equals("race")) race(folder, conf);
    else fail(folder, conf);
    FileSystem fs = folder.getFileSystem(conf);
    if (fs.exists(folder)) for (var file : fs.listStatus(folder)) System.out.println("file " + file.getPath().getName());
  }

  /** Creates the same entries from several drivers at the same time. */
  private static void race(Path folder, Configuration conf) throws Exception {
    // Each driver has separate connections.
    conf.setBoolean("fs.s3a.impl.disable.cache", true);
    conf.setBoolean("fs.hdfs.impl.disable.cache", true);
    List<HadoopSideLog> drivers = new ArrayList<>();
    for (int i = 0; i < DRIVERS; i++) drivers.add(new HadoopSideLog(folder, conf));
    ExecutorService pool = Executors.newFixedThreadPool(DRIVERS);
    CyclicBarrier barrier = new CyclicBarrier(DRIVERS);
    for (int round = 0; round < ROUNDS; round++) {
      String key = "entry-" + round;
      List<Future<String>> created = new ArrayList<>();
      for (int i = 0; i < DRIVERS; i++) {
        String own = "driver " + i;
        HadoopSideLog log = drivers.get(i);
        created.add(pool.submit(() -> {
          log.get(key);
          barrier.await();
          return log.getOrCreate(key, lines(own)).head();
        }));
      }
      Set<String> seen = new HashSet<>();
      for (Future<String> one : created) seen.add(one.get());
      seen.add(new HadoopSideLog(folder, conf).get(key).get().head());
      System.out.println("round " + seen);
    }
    pool.shutdown();
  }

  /** Creates an entry that exceeds the space of the storage. */
  private static void fail(Path folder, Configuration conf) throws Exception {
    FileSystem fs = folder.getFileSystem(conf);
    fs.mkdirs(folder);
    if (fs instanceof DistributedFileSystem) ((DistributedFileSystem) fs).setQuota(folder, Long.MAX_VALUE - 1, 1);
    try {
      new HadoopSideLog(folder, conf).getOrCreate("large", lines("x".repeat(LARGE)));
      System.out.println("written");
    } catch (Exception error) {
      System.out.println("failed " + error.getClass().getName());
    }
  }

  private static Function0<Seq<String>> lines(String line) {
    return () -> CollectionConverters.asScala(List.of(line)).toList();
  }
}
