package touchline;

import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The price feed. It connects, subscribes to players and to the account, and resumes after every break: missed prices by
 * the last move of their match, account events by the last marker. Nothing is lost, and nothing is reported twice.
 * Everything happens, and every function is called, in one thread of its own.
 */
public final class Feed {
  private record Since(long epoch, long seq) {
    boolean isBefore(long otherEpoch, long otherSeq) {
      return otherEpoch > epoch || otherEpoch == epoch && otherSeq > seq;
    }
  }

  /** The server sends a heartbeat every ten seconds. */
  private static final long SILENCE_MS = 25_000;
  private static final long CONNECT_MS = 10_000;
  private static final long FIRST_WAIT_MS = 2_000;
  private static final long RESTART_WAIT_MS = 5_000;
  private static final long LONGEST_WAIT_MS = 15_000;
  private static final long RETRY_MS = 1_500;
  private static final int IDS_MAX = 400;
  private static final int MESSAGE_MAX = 16 * 1024 * 1024;
  private static final int LOST = 1006;
  private static final int RESTART = 1012;
  private static final int NO_ROOM = 1013;
  private static final int ADMINS_ONLY = 4003;
  private static final int TOO_MANY = 4029;

  private final Supplier<Json> token;
  private final Consumer<PriceFrame> onPrice;
  private final Consumer<Json> onAccount;
  private final Consumer<String> onState;
  private final HttpClient http = HttpClient.newHttpClient();
  private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(run -> {
    Thread made = new Thread(run, "touchline-feed");
    made.setDaemon(true);
    return made;
  });

  // Used by the feed's thread alone.
  private final Map<String, Long> followed = new LinkedHashMap<>();
  private final Map<Long, Since> newest = new HashMap<>();
  /** Players whose price is as new as the newest move of their match; the others need a snapshot. */
  private final Set<String> current = new HashSet<>();
  private List<String> arriving = List.of();
  private String marker = null;
  private WebSocket socket = null;
  private String state = "stopped";
  private int failures = 0;
  private int attempt = 0;
  private ScheduledFuture<?> timer = null;

  /**
   * @param token gives a fresh token and where to use it: {@code api::createSocketToken}
   * @param onAccount an event of your positions, or a whole answer with {@code snapshot} that replaces what you know
   * @param onState hears "connecting", "live", "waiting" and "stopped"
   */
  public Feed(
      Supplier<Json> token, Consumer<PriceFrame> onPrice, Consumer<Json> onAccount, Consumer<String> onState) {
    this.token = token;
    this.onPrice = onPrice;
    this.onAccount = onAccount;
    this.onState = onState;
  }

  public void start() {
    thread.execute(() -> {
      if (state.equals("stopped")) connect();
    });
  }

  /** Ends the connection for good. */
  public void stop() {
    thread.execute(() -> {
      attempt++;
      drop();
      enter("stopped");
      thread.shutdownNow();
    });
    try {
      thread.awaitTermination(CONNECT_MS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  /** Follows exactly these players from now on: the id of each, and of its match. */
  public void follow(Map<String, Long> players) {
    Map<String, Long> wanted = new LinkedHashMap<>(players);
    thread.execute(() -> {
      List<String> gone = followed.keySet().stream().filter(id -> !wanted.containsKey(id)).toList();
      List<String> fresh = wanted.keySet().stream().filter(id -> !followed.containsKey(id)).toList();
      followed.clear();
      followed.putAll(wanted);
      gone.forEach(current::remove);
      for (List<String> ids : portions(gone)) send(Map.of("type", "unsubscribe", "instrumentIds", ids));
      subscribe(fresh, null);
    });
  }

  private void connect() {
    int mine = ++attempt;
    drop();
    enter("connecting");
    try {
      Json given = token.get();
      URI address = URI.create(given.get("wsUrl").text() + "/?token=" + given.get("token").text());
      http.newWebSocketBuilder()
          .subprotocols("feed.v1")
          .connectTimeout(Duration.ofMillis(CONNECT_MS))
          .buildAsync(address, new Listener(mine))
          .whenComplete((made, fault) -> run(mine, () -> {
            if (fault == null) {
              socket = made;
              resume();
            } else {
              lose(nextWait(LOST));
            }
          }));
    } catch (RuntimeException fault) {
      // Whatever failed, it is tried again.
      lose(nextWait(LOST));
    }
  }

  /** Does this in the feed's thread, unless the connection has been given up since. */
  private void run(int mine, Runnable what) {
    if (thread.isShutdown()) return;
    thread.execute(() -> {
      if (mine == attempt) what.run();
    });
  }

  private final class Listener implements WebSocket.Listener {
    private final int mine;
    private final StringBuilder text = new StringBuilder();
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    Listener(int mine) {
      this.mine = mine;
    }

    @Override
    public CompletionStage<?> onText(WebSocket from, CharSequence data, boolean isLast) {
      text.append(data);
      if (text.length() > MESSAGE_MAX) from.abort();
      if (isLast) {
        Json message = Json.parse(text.toString());
        text.setLength(0);
        run(mine, () -> receive(message));
      }
      from.request(1);
      return null;
    }

    @Override
    public CompletionStage<?> onBinary(WebSocket from, ByteBuffer data, boolean isLast) {
      byte[] part = new byte[data.remaining()];
      data.get(part);
      bytes.writeBytes(part);
      if (bytes.size() > MESSAGE_MAX) from.abort();
      if (isLast) {
        byte[] whole = bytes.toByteArray();
        bytes.reset();
        run(mine, () -> receivePrice(whole));
      }
      from.request(1);
      return null;
    }

    @Override
    public CompletionStage<?> onClose(WebSocket from, int code, String reason) {
      run(mine, () -> lose(nextWait(code)));
      return null;
    }

    @Override
    public void onError(WebSocket from, Throwable fault) {
      run(mine, () -> lose(nextWait(LOST)));
    }
  }

  private void resume() {
    expectMessage();
    send(marker == null ? Map.of("type", "account") : Map.of("type", "account", "since", marker));
    for (long fixture : new HashSet<>(followed.values())) {
      List<String> ids = followed.keySet().stream().filter(id -> followed.get(id) == fixture).toList();
      List<String> known = ids.stream().filter(current::contains).toList();
      subscribe(ids.stream().filter(id -> !current.contains(id)).toList(), null);
      subscribe(known, newest.get(fixture));
    }
  }

  private void subscribe(List<String> ids, Since since) {
    ids.forEach(current::remove);
    for (List<String> portion : portions(ids)) {
      Map<String, Object> message = new HashMap<>(Map.of("type", "subscribe", "instrumentIds", portion));
      if (since != null) message.put("since", Map.of("epoch", since.epoch(), "seq", since.seq()));
      send(message);
    }
  }

  private void receive(Json message) {
    live();
    arrived();
    switch (message.get("type").text()) {
      case "account" -> receiveAccount(message);
      case "shutdown" -> lose((long) message.get("reconnectInMs").number());
      case "subscribed" -> {
        arriving = message.get("instrumentIds").list().stream().map(Json::text).toList();
        List<String> busy = message.get("rejected").list().stream()
            .filter(one -> one.get("code").text().equals("busy"))
            .map(one -> one.get("instrumentId").text())
            .toList();
        if (!busy.isEmpty()) later(about(RETRY_MS), () -> subscribe(
            busy.stream().filter(followed::containsKey).toList(), null));
      }
      case "error" -> {
        // The request is lost; a new connection repeats all of them.
        if (!message.get("code").text().equals("bad_message")) lose(about(RETRY_MS));
      }
      default -> { }
    }
  }

  private void receivePrice(byte[] bytes) {
    live();
    PriceFrame frame = PriceFrame.decode(bytes);
    if (frame == null) return;
    if ((frame.flags() & (PriceFrame.SNAPSHOT | PriceFrame.REPLAY)) == 0) arrived();
    Since last = newest.get(frame.fixtureId());
    if (last == null || last.isBefore(frame.epoch(), frame.seq())) {
      newest.put(frame.fixtureId(), new Since(frame.epoch(), frame.seq()));
    }
    onPrice.accept(frame);
  }

  private void receiveAccount(Json changes) {
    long known = marker == null ? -1 : Long.parseLong(marker);
    marker = changes.get("marker").text();
    if (changes.get("snapshot").isTrue()) {
      onAccount.accept(changes);
      return;
    }
    for (Json event : changes.get("events").list()) {
      if (Long.parseLong(event.get("marker").text()) > known) onAccount.accept(event);
    }
  }

  private void arrived() {
    for (String id : arriving) if (followed.containsKey(id)) current.add(id);
    arriving = List.of();
  }

  private void live() {
    failures = 0;
    enter("live");
    expectMessage();
  }

  private void send(Map<String, ?> message) {
    // Messages follow one another: the next is sent when the one before is on its way.
    if (socket == null || socket.isOutputClosed()) return;
    try {
      socket.sendText(Json.write(message), true).join();
    } catch (CompletionException fault) {
      lose(nextWait(LOST)); // the next connection asks for everything again
    }
  }

  private void expectMessage() {
    if (timer != null) timer.cancel(false);
    timer = later(SILENCE_MS, () -> lose(nextWait(LOST)));
  }

  private ScheduledFuture<?> later(long ms, Runnable what) {
    int mine = attempt;
    return thread.schedule(() -> {
      if (mine == attempt) what.run();
    }, ms, TimeUnit.MILLISECONDS);
  }

  private void lose(long waitMs) {
    attempt++;
    drop();
    enter("waiting");
    timer = later(waitMs, this::connect);
  }

  private void drop() {
    if (timer != null) timer.cancel(false);
    if (socket != null) socket.abort();
    socket = null;
    arriving = List.of();
  }

  /** Longer each time, and at random from nothing on, so that a returning server is not overrun. */
  private long nextWait(int code) {
    if (code == TOO_MANY || code == ADMINS_ONLY) return about(LONGEST_WAIT_MS);
    long first = code == RESTART || code == NO_ROOM ? RESTART_WAIT_MS : FIRST_WAIT_MS;
    double longest = Math.min(LONGEST_WAIT_MS, first * Math.pow(2, failures++));
    return (long) (ThreadLocalRandom.current().nextDouble() * longest);
  }

  private void enter(String next) {
    if (next.equals(state)) return;
    state = next;
    onState.accept(next);
  }

  private static long about(long ms) {
    return (long) (ms * (0.5 + ThreadLocalRandom.current().nextDouble()));
  }

  private static List<List<String>> portions(List<String> ids) {
    List<List<String>> made = new ArrayList<>();
    for (int n = 0; n < ids.size(); n += IDS_MAX) made.add(ids.subList(n, Math.min(n + IDS_MAX, ids.size())));
    return made;
  }
}
