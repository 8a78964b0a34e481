using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using Touchline;

/// <summary>The program of a live session in C#. With the argument `frames` it decodes lines of hex instead.</summary>
public static class Session
{
    private static readonly object Output = new object();

    private static void Say(FormattableString words)
    {
        lock (Output) Console.WriteLine(words.ToString(CultureInfo.InvariantCulture));
    }

    public static void Main(string[] args)
    {
        string line;
        if (args[0] == "frames")
        {
            while ((line = Console.ReadLine()) != null)
            {
                var bytes = Enumerable.Range(0, line.Length / 2).Select(n => Convert.ToByte(line.Substring(2 * n, 2), 16));
                var f = PriceFrame.Decode(bytes.ToArray());
                Console.WriteLine(Json.Write(f == null ? null : new object[] {
                    f.Flags, f.Epoch, f.Seq, f.InstrumentId, f.AtMicros, f.Price, f.LiveBase, f.Imbalance,
                    f.PreviousPrice, f.EventId, f.FixtureId, f.Cause, f.Minute, f.TradingStatus,
                }));
            }
            return;
        }
        var api = new Api(args[0], Environment.GetEnvironmentVariable("TOUCHLINE_KEY"));
        var player = args[1];
        var feed = new Feed(
            api.CreateSocketToken,
            f => Say($"frame {f.Flags} {f.Epoch} {f.Seq} {f.PreviousPrice:R} {f.Price:R}"),
            change => Say($"account {change["marker"].Text} {(change["snapshot"].IsTrue ? "snapshot" : change["type"].Text)}"),
            state => Say($"state {state}"));
        var fixture = (long)api.GetInstrument(player)["fixtureId"].Number;
        feed.Follow(new Dictionary<string, long> { { player, fixture } });
        feed.Start();

        var position = "";
        while ((line = Console.ReadLine()) != null && line != "end")
        {
            try
            {
                if (line.StartsWith("open ", StringComparison.Ordinal))
                {
                    var order = new Dictionary<string, object> {
                        { "instrumentId", player },
                        { "direction", "long" },
                        { "lotSize", double.Parse(line.Substring(5), CultureInfo.InvariantCulture) },
                        { "clientPrice", api.GetInstrument(player)["currentPrice"] },
                    };
                    position = api.OpenPosition(order, Api.NewKey())["position"]["id"].Text;
                    Say($"opened {position}");
                }
                else
                {
                    var closed = api.ClosePosition(position, new Dictionary<string, object>(), Api.NewKey());
                    Say($"closed {closed["position"]["closedBy"].Text}");
                }
            }
            catch (ApiException error)
            {
                Say($"refused {error.Code}");
            }
        }
        feed.Stop();
    }
}
