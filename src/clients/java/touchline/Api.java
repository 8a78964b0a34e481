package touchline;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;

/**
 * REST with a personal key. Every operation of the API is a method, named as in its description. A read, and a request
 * with a key, is repeated when the network or the server fails. Safe to share among threads.
 */
public final class Api extends Operations {
  private static final int ATTEMPTS = 4;
  private static final double FIRST_PAUSE_MS = 250;
  private static final double LONGEST_PAUSE_MS = 3_000;
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final SecureRandom RANDOM = new SecureRandom();

  private final HttpClient http = HttpClient.newBuilder().connectTimeout(TIMEOUT).build();
  private final String baseUrl;
  private final String personalKey;

  public Api(String baseUrl, String personalKey) {
    this.baseUrl = baseUrl.replaceAll("/$", "");
    this.personalKey = personalKey;
  }

  /** A key for one order: repeat the order with the same key, and it is carried out once. */
  public static String newKey() {
    byte[] bytes = new byte[16];
    RANDOM.nextBytes(bytes);
    return HexFormat.of().formatHex(bytes);
  }

  @Override
  String part(Object value) {
    return URLEncoder.encode(value.toString(), StandardCharsets.UTF_8).replace("+", "%20");
  }

  @Override
  Json ask(String method, String path, Map<String, ?> query, Object body, String key) {
    boolean mayRepeat = method.equals("GET") || key != null;
    for (int attempt = 1; ; attempt++) {
      boolean isLast = !mayRepeat || attempt == ATTEMPTS;
      double wait = 0;
      try {
        HttpRequest request = request(method, path, query, body, key);
        HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
        Json said = read(answer.body());
        if (answer.statusCode() < 300) return said;
        String code = said.get("code").isNull() ? "" : said.get("code").text();
        boolean isPassing = answer.statusCode() == 503 && !code.equals("COMING_SOON") || code.equals("KEY_IN_FLIGHT");
        if (!isPassing || isLast) throw new ApiException(answer.statusCode(), said);
        wait = answer.headers().firstValueAsLong("retry-after").orElse(0) * 1_000.0;
      } catch (IOException fault) {
        if (isLast) throw new ApiException(0, offline());
      } catch (InterruptedException stopped) {
        Thread.currentThread().interrupt();
        throw new ApiException(0, offline());
      }
      double own = FIRST_PAUSE_MS * Math.pow(2, attempt - 1) * (0.5 + ThreadLocalRandom.current().nextDouble());
      pause(Math.min(LONGEST_PAUSE_MS, Math.max(own, wait)));
    }
  }

  private HttpRequest request(String method, String path, Map<String, ?> query, Object body, String key) {
    String given = query.entrySet().stream()
        .map(one -> part(one.getKey()) + "=" + part(one.getValue()))
        .collect(Collectors.joining("&"));
    HttpRequest.Builder request = HttpRequest.newBuilder(
            URI.create(baseUrl + path + (given.isEmpty() ? "" : "?" + given)))
        .timeout(TIMEOUT)
        .header("authorization", "Bearer " + personalKey)
        .method(method, body == null
            ? HttpRequest.BodyPublishers.noBody()
            : HttpRequest.BodyPublishers.ofString(Json.write(body)));
    if (body != null) request.header("content-type", "application/json");
    if (key != null) request.header("idempotency-key", key);
    return request.build();
  }

  private static Json read(String body) {
    try {
      return Json.parse(body);
    } catch (IllegalArgumentException none) {
      return Json.parse("{}");
    }
  }

  private static Json offline() {
    return Json.parse("{\"error\":\"the server cannot be reached\",\"code\":\"OFFLINE\"}");
  }

  private static void pause(double ms) {
    try {
      Thread.sleep((long) ms);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new ApiException(0, offline());
    }
  }
}
