package touchline;

import java.nio.ByteBuffer;
import java.util.UUID;
import java.util.zip.CRC32;

/**
 * A price: 93 bytes, big-endian. Quantities are numbers of units; the bytes hold millionths.
 *
 * @param flags added up: SNAPSHOT, REPLAY and so on
 * @param epoch the incarnation of the match; each new one restarts {@code seq}
 * @param seq counts the moves of the match; a snapshot repeats the number of the move it shows
 * @param atMicros microseconds since 1970
 * @param eventId the provider's event behind the move, or 0
 * @param minute the match clock, null before kick-off
 */
public record PriceFrame(
    int flags,
    long epoch,
    long seq,
    String instrumentId,
    long atMicros,
    double price,
    double liveBase,
    double imbalance,
    double previousPrice,
    long eventId,
    long fixtureId,
    String cause,
    Integer minute,
    String tradingStatus) {
  /** The current price on subscribing, not a move. */
  public static final int SNAPSHOT = 1;
  /** A missed move, resent. */
  public static final int REPLAY = 2;
  /** Older moves of this instrument were folded into this one. */
  public static final int CONFLATED = 4;
  /** The live feed behind it is late. */
  public static final int STALE = 8;
  public static final int SUSPENDED = 16;
  /** The settlement price: nothing follows it in this match. */
  public static final int FINAL = 32;

  private static final int BYTES = 93;
  private static final int CHECKED_BYTES = 89;
  private static final double MICROS = 1_000_000;
  private static final int NO_MINUTE = 0xffff;
  private static final String[] CAUSES = {"listing", "match", "event", "trade", "settlement", "rules"};
  private static final String[] STATUSES = {"CLOSED", "OPEN", "SUSPENDED"};

  /** The frame in these bytes; null when they are not one, or were damaged on the way. */
  public static PriceFrame decode(byte[] bytes) {
    if (bytes.length != BYTES || bytes[0] != 1 || bytes[1] != 1) return null;
    ByteBuffer in = ByteBuffer.wrap(bytes);
    CRC32 sum = new CRC32();
    sum.update(bytes, 0, CHECKED_BYTES);
    int cause = in.get(85);
    int status = in.get(88);
    if (sum.getValue() != Integer.toUnsignedLong(in.getInt(CHECKED_BYTES))) return null;
    if (cause < 0 || cause >= CAUSES.length || status < 0 || status >= STATUSES.length) return null;
    int minute = Short.toUnsignedInt(in.getShort(86));
    return new PriceFrame(
        Short.toUnsignedInt(in.getShort(2)),
        Integer.toUnsignedLong(in.getInt(4)),
        in.getLong(8),
        new UUID(in.getLong(16), in.getLong(24)).toString(),
        in.getLong(32),
        in.getLong(40) / MICROS,
        in.getLong(48) / MICROS,
        in.getLong(56) / MICROS,
        in.getLong(64) / MICROS,
        in.getLong(72),
        Integer.toUnsignedLong(in.getInt(80)),
        CAUSES[cause],
        minute == NO_MINUTE ? null : minute,
        STATUSES[status]);
  }
}
