// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

package splice.faults;

import java.io.IOException;
import java.net.URI;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.DelegateToFileSystem;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/**
 * The local file system as {@code crash:/path}, which kills its JVM (SIGKILL) at a chosen step.
 *
 * <p>The step is said by the settings {@code splice.crash.path}, a regular expression that the whole path must match;
 * {@code splice.crash.operation}, which is {@code create} or {@code rename} (of a file to that path);
 * {@code splice.crash.moment}, {@code before} or {@code after} it; and {@code splice.crash.occurrence}, counted from 1.
 */
public final class CrashFileSystem extends RawLocalFileSystem {

  public static final String SCHEME = "crash";

  private static final String DIED = "splice.faults: killed ";
  private static final URI NAME = URI.create(SCHEME + ":///");
  private static final AtomicInteger SEEN = new AtomicInteger();

  @Override
  public URI getUri() {
    return NAME;
  }

  @Override
  public String getScheme() {
    return SCHEME;
  }

  @Override
  public boolean rename(Path from, Path to) throws IOException {
    boolean due = isDue("rename", to);
    dieIf(due, "before", to);
    boolean done = super.rename(from, to);
    dieIf(due, "after", to);
    return done;
  }

  @Override
  public FSDataOutputStream create(
      Path file, boolean overwrite, int bufferSize, short replication, long blockSize, Progressable progress)
      throws IOException {
    boolean due = isDue("create", file);
    dieIf(due, "before", file);
    FSDataOutputStream made = super.create(file, overwrite, bufferSize, replication, blockSize, progress);
    dieIf(due, "after", file);
    return made;
  }

  @Override
  public FSDataOutputStream create(
      Path file,
      FsPermission permission,
      boolean overwrite,
      int bufferSize,
      short replication,
      long blockSize,
      Progressable progress)
      throws IOException {
    boolean due = isDue("create", file);
    dieIf(due, "before", file);
    FSDataOutputStream made = super.create(file, permission, overwrite, bufferSize, replication, blockSize, progress);
    dieIf(due, "after", file);
    return made;
  }

  private boolean isDue(String operation, Path path) {
    String wanted = getConf().get("splice.crash.path", "");
    return !wanted.isEmpty()
        && operation.equals(getConf().get("splice.crash.operation", "rename"))
        && Pattern.matches(wanted, path.toUri().getPath())
        && SEEN.incrementAndGet() == getConf().getInt("splice.crash.occurrence", 1);
  }

  private void dieIf(boolean due, String moment, Path path) throws IOException {
    if (due && moment.equals(getConf().get("splice.crash.moment", "after"))) {
      System.err.println(DIED + moment + " " + path);
      new ProcessBuilder("kill", "-KILL", Long.toString(ProcessHandle.current().pid())).inheritIO().start();
      while (true) Thread.onSpinWait();
    }
  }

  /** What Hadoop's FileContext uses. */
  public static final class Context extends DelegateToFileSystem {
    public Context(URI uri, Configuration conf) throws IOException, java.net.URISyntaxException {
      super(uri, new CrashFileSystem(), conf, SCHEME, false);
    }
  }
}
