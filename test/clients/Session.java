import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.HexFormat;
import java.util.Map;
import touchline.Api;
import touchline.ApiException;
import touchline.Feed;
import touchline.Json;
import touchline.PriceFrame;

/** The program of a live session in Java. With the argument `frames` it decodes lines of hex instead. */
public final class Session {
  public static void main(String[] args) throws IOException {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    if (args[0].equals("frames")) {
      for (String line; (line = in.readLine()) != null; ) {
        PriceFrame f = PriceFrame.decode(HexFormat.of().parseHex(line));
        Object[] fields = f == null ? null : new Object[] {
          f.flags(), f.epoch(), f.seq(), f.instrumentId(), f.atMicros(), f.price(), f.liveBase(), f.imbalance(),
          f.previousPrice(), f.eventId(), f.fixtureId(), f.cause(), f.minute(), f.tradingStatus()
        };
        System.out.println(Json.write(fields == null ? null : java.util.Arrays.asList(fields)));
      }
      return;
    }
    Api api = new Api(args[0], System.getenv("TOUCHLINE_KEY"));
    String player = args[1];
    Feed feed = new Feed(
        api::createSocketToken,
        f -> System.out.println(
            "frame " + f.flags() + " " + f.epoch() + " " + f.seq() + " " + f.previousPrice() + " " + f.price()),
        changes -> System.out.println("account " + changes.get("marker").text() + " "
            + (changes.get("snapshot").isTrue() ? "snapshot" : changes.get("type").text())),
        state -> System.out.println("state " + state));
    feed.follow(Map.of(player, (long) api.getInstrument(player).get("fixtureId").number()));
    feed.start();

    String position = "";
    for (String line; (line = in.readLine()) != null && !line.equals("end"); ) {
      try {
        if (line.startsWith("open ")) {
          double lots = Double.parseDouble(line.substring(5));
          double price = api.getInstrument(player).get("currentPrice").number();
          Map<String, Object> order =
              Map.of("instrumentId", player, "direction", "long", "lotSize", lots, "clientPrice", price);
          position = api.openPosition(order, Api.newKey()).get("position").get("id").text();
          System.out.println("opened " + position);
        } else {
          Json closed = api.closePosition(position, Map.of(), Api.newKey());
          System.out.println("closed " + closed.get("position").get("closedBy").text());
        }
      } catch (ApiException error) {
        System.out.println("refused " + error.code);
      }
    }
    feed.stop();
  }
}
