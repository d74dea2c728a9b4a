// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.server.namenode.AuditLogger;

/** NameNode and DataNode. The arguments are an empty folder, the NameNode's port and its HTTP port. */
public final class HdfsServer {

  private static final String FOLDER = "splice.test.folder";

  public static void main(String[] arguments) throws Exception {
    Path folder = Path.of(arguments[0]);
    Configuration conf = new HdfsConfiguration();
    conf.set("hdfs.minidfs.basedir", folder.resolve("data").toString());
    conf.set("dfs.namenode.audit.loggers", Steps.class.getName());
    conf.set("dfs.permissions.enabled", "false");
    conf.set("dfs.replication", "1");
    conf.set(FOLDER, folder.toString());
    new MiniDFSCluster.Builder(conf)
        .numDataNodes(1)
        .nameNodePort(Integer.parseInt(arguments[1]))
        .nameNodeHttpPort(Integer.parseInt(arguments[2]))
        .format(true)
        .build()
        .waitActive();
    Files.writeString(folder.resolve("ready"), "");
    Thread.currentThread().join();
  }

  /** Kills a driver at the step in the file {@code plan}: {@code <before|after> <n> <process id> <pattern>}.
   *
   * <p>A call is logged after its effect and before its response. The temporary file of a file is created first.
   */
  public static final class Steps implements AuditLogger {

    private static final Pattern TEMPORARY =
        Pattern.compile("/\\.([^/]+)\\.[0-9a-f-]{36}(\\.TID\\d+)?\\.tmp$");

    private Path folder;
    private String last = "";
    private int met;

    @Override
    public void initialize(Configuration conf) {
      folder = Path.of(conf.get(FOLDER));
    }

    @Override
    public synchronized void logAuditEvent(
        boolean succeeded, String user, InetAddress address, String call, String from, String to, FileStatus status) {
      if (succeeded && call.startsWith("rename")) step("after", to);
      if (succeeded && call.equals("create")) step("before", TEMPORARY.matcher(from).replaceFirst("/$1"));
    }

    private void step(String when, String name) {
      try {
        Path file = folder.resolve("plan");
        if (!Files.exists(file)) return;
        String plan = Files.readString(file);
        if (!plan.equals(last)) met = 0;
        last = plan;
        String[] parts = plan.split(" ", 4);
        boolean fits = parts[0].equals(when) && Pattern.compile(parts[3]).matcher(name).find();
        if (!fits || ++met != Integer.parseInt(parts[1])) return;
        Files.delete(file);
        Files.writeString(folder.resolve("acted"), when + " " + name);
        kill(Long.parseLong(parts[2]));
      } catch (IOException error) {
        throw new UncheckedIOException(error);
      }
    }

    /** Kills a process and its child processes (SIGKILL). */
    private static void kill(long pid) {
      ProcessHandle.of(pid).ifPresent(driver -> {
        List<ProcessHandle> started = driver.descendants().toList();
        driver.destroyForcibly();
        started.forEach(ProcessHandle::destroyForcibly);
      });
    }
  }
}
