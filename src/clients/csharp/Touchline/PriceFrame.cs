using System;

namespace Touchline
{
    /// <summary>A price: 93 bytes, big-endian. Quantities are numbers of units; the bytes hold millionths.</summary>
    public sealed class PriceFrame
    {
        /// <summary>The current price on subscribing, not a move.</summary>
        public const int Snapshot = 1;
        /// <summary>A missed move, resent.</summary>
        public const int Replay = 2;
        /// <summary>Older moves of this instrument were folded into this one.</summary>
        public const int Conflated = 4;
        /// <summary>The live feed behind it is late.</summary>
        public const int Stale = 8;
        public const int Suspended = 16;
        /// <summary>The settlement price: nothing follows it in this match.</summary>
        public const int Final = 32;

        private const int Bytes = 93;
        private const int CheckedBytes = 89;
        private const double Micros = 1000000;
        private const int NoMinute = 0xffff;
        private static readonly string[] Causes = { "listing", "match", "event", "trade", "settlement", "rules" };
        private static readonly string[] Statuses = { "CLOSED", "OPEN", "SUSPENDED" };

        private PriceFrame()
        {
        }

        /// <summary>Added up.</summary>
        public int Flags { get; private set; }
        /// <summary>The incarnation of the match; each new one restarts <see cref="Seq"/>.</summary>
        public long Epoch { get; private set; }
        /// <summary>Counts the moves of the match; a snapshot repeats the number of the move it shows.</summary>
        public long Seq { get; private set; }
        public string InstrumentId { get; private set; }
        /// <summary>Microseconds since 1970.</summary>
        public long AtMicros { get; private set; }
        public double Price { get; private set; }
        public double LiveBase { get; private set; }
        public double Imbalance { get; private set; }
        public double PreviousPrice { get; private set; }
        /// <summary>The provider's event behind the move, or 0.</summary>
        public long EventId { get; private set; }
        public long FixtureId { get; private set; }
        public string Cause { get; private set; }
        /// <summary>The match clock, null before kick-off.</summary>
        public int? Minute { get; private set; }
        public string TradingStatus { get; private set; }

        /// <summary>The frame in these bytes; null when they are not one, or were damaged on the way.</summary>
        public static PriceFrame Decode(byte[] bytes)
        {
            if (bytes.Length != Bytes || bytes[0] != 1 || bytes[1] != 1) return null;
            if (Integer(bytes, CheckedBytes, 4) != Crc32(bytes, CheckedBytes)) return null;
            int cause = bytes[85], status = bytes[88];
            if (cause >= Causes.Length || status >= Statuses.Length) return null;
            var minute = (int)Integer(bytes, 86, 2);
            var hex = BitConverter.ToString(bytes, 16, 16).Replace("-", "").ToLowerInvariant();
            return new PriceFrame
            {
                Flags = (int)Integer(bytes, 2, 2),
                Epoch = Integer(bytes, 4, 4),
                Seq = Integer(bytes, 8, 8),
                InstrumentId = Guid.ParseExact(hex, "N").ToString(),
                AtMicros = Integer(bytes, 32, 8),
                Price = Integer(bytes, 40, 8) / Micros,
                LiveBase = Integer(bytes, 48, 8) / Micros,
                Imbalance = Integer(bytes, 56, 8) / Micros,
                PreviousPrice = Integer(bytes, 64, 8) / Micros,
                EventId = Integer(bytes, 72, 8),
                FixtureId = Integer(bytes, 80, 4),
                Cause = Causes[cause],
                Minute = minute == NoMinute ? (int?)null : minute,
                TradingStatus = Statuses[status],
            };
        }

        private static long Integer(byte[] bytes, int offset, int count)
        {
            long value = 0;
            for (var n = 0; n < count; n++) value = (value << 8) | bytes[offset + n];
            return value;
        }

        private static uint Crc32(byte[] bytes, int count)
        {
            var sum = 0xffffffff;
            for (var n = 0; n < count; n++)
            {
                sum ^= bytes[n];
                for (var bit = 0; bit < 8; bit++) sum = (sum & 1) == 1 ? (sum >> 1) ^ 0xedb88320 : sum >> 1;
            }
            return ~sum;
        }
    }
}
