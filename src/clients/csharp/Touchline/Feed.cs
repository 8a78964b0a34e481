using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Net.WebSockets;
using System.Text;
using System.Threading;

namespace Touchline
{
    /// <summary>
    /// The price feed. It connects, subscribes to players and to the account, and resumes after every break: missed
    /// prices by the last move of their match, account events by the last marker. Nothing is lost, and nothing is
    /// reported twice. Every function is called in one thread of its own.
    /// </summary>
    public sealed class Feed
    {
        private struct Since
        {
            public long Epoch;
            public long Seq;
        }

        /// <summary>The server sends a heartbeat every ten seconds.</summary>
        private const int SilenceMs = 25000;
        private const int ConnectMs = 10000;
        private const int FirstWaitMs = 2000;
        private const int RestartWaitMs = 5000;
        private const int LongestWaitMs = 15000;
        private const int RetryMs = 1500;
        private const int IdsMax = 400;
        private const int MessageMax = 16 * 1024 * 1024;
        private const int Lost = 1006, Restart = 1012, NoRoom = 1013, AdminsOnly = 4003, TooMany = 4029;

        private readonly Func<Json> token;
        private readonly Action<PriceFrame> onPrice;
        private readonly Action<Json> onAccount;
        private readonly Action<string> onState;
        private readonly Random random = new Random();
        private readonly CancellationTokenSource stopping = new CancellationTokenSource();
        private readonly object gate = new object();

        // Behind the gate.
        private readonly Dictionary<string, long> followed = new Dictionary<string, long>();
        private readonly Dictionary<long, Since> newest = new Dictionary<long, Since>();
        /// <summary>Players whose price is as new as the newest move of their match; others need a snapshot.</summary>
        private readonly HashSet<string> current = new HashSet<string>();
        private List<string> arriving = new List<string>();
        private ClientWebSocket socket;

        // Of the feed's thread.
        private string marker;
        private string state = "stopped";
        private int failures;
        private Thread thread;

        /// <param name="token">Gives a fresh token and where to use it: <c>api.CreateSocketToken</c>.</param>
        /// <param name="onPrice">Hears every price.</param>
        /// <param name="onAccount">Hears an event of your positions, or an answer with <c>snapshot</c> that replaces
        /// what you know.</param>
        /// <param name="onState">Hears "connecting", "live", "waiting" and "stopped".</param>
        public Feed(Func<Json> token, Action<PriceFrame> onPrice, Action<Json> onAccount, Action<string> onState)
        {
            this.token = token;
            this.onPrice = onPrice;
            this.onAccount = onAccount;
            this.onState = onState;
        }

        public void Start()
        {
            if (thread != null) return;
            thread = new Thread(Run) { IsBackground = true, Name = "touchline-feed" };
            thread.Start();
        }

        /// <summary>Ends the connection for good.</summary>
        public void Stop()
        {
            stopping.Cancel();
            if (thread != null && thread != Thread.CurrentThread) thread.Join();
        }

        /// <summary>Follows exactly these players from now on: the id of each, and of its match.</summary>
        public void Follow(IReadOnlyDictionary<string, long> players)
        {
            lock (gate)
            {
                var gone = followed.Keys.Where(id => !players.ContainsKey(id)).ToList();
                var fresh = players.Keys.Where(id => !followed.ContainsKey(id)).ToList();
                followed.Clear();
                foreach (var one in players) followed[one.Key] = one.Value;
                current.ExceptWith(gone);
                foreach (var ids in Portions(gone)) Send(Message("unsubscribe", "instrumentIds", ids));
                Subscribe(fresh, null);
            }
        }

        private void Run()
        {
            while (!stopping.IsCancellationRequested)
            {
                var wait = Connected();
                if (stopping.IsCancellationRequested) break;
                Enter("waiting");
                stopping.Token.WaitHandle.WaitOne(wait);
            }
            Enter("stopped");
        }

        /// <summary>One connection until it ends; the time to wait before the next, in milliseconds.</summary>
        private int Connected()
        {
            Enter("connecting");
            using (var made = new ClientWebSocket())
            {
                try
                {
                    made.Options.AddSubProtocol("feed.v1");
                    var given = token();
                    var address = new Uri(given["wsUrl"].Text + "/?token=" + Uri.EscapeDataString(given["token"].Text));
                    using (var limit = Within(ConnectMs)) made.ConnectAsync(address, limit.Token).GetAwaiter().GetResult();
                    lock (gate)
                    {
                        socket = made;
                        Resume();
                    }
                    while (true)
                    {
                        var wait = Receive(made);
                        if (wait.HasValue) return wait.Value;
                    }
                }
                catch (Exception)
                {
                    // Whatever failed, the token, the network or the time, it is tried again.
                    var code = made.CloseStatus;
                    return NextWait(code.HasValue ? (int)code.Value : Lost);
                }
                finally
                {
                    lock (gate)
                    {
                        socket = null;
                        arriving = new List<string>();
                    }
                    made.Abort();
                }
            }
        }

        private CancellationTokenSource Within(int ms)
        {
            var limit = CancellationTokenSource.CreateLinkedTokenSource(stopping.Token);
            limit.CancelAfter(ms);
            return limit;
        }

        /// <summary>Takes one message; the time to wait if the connection is to be dropped.</summary>
        private int? Receive(ClientWebSocket from)
        {
            using (var limit = Within(SilenceMs))
            using (var whole = new MemoryStream())
            {
                var part = new byte[16384];
                WebSocketReceiveResult result;
                do
                {
                    var space = new ArraySegment<byte>(part);
                    result = from.ReceiveAsync(space, limit.Token).GetAwaiter().GetResult();
                    if (result.MessageType == WebSocketMessageType.Close) return NextWait((int)(result.CloseStatus ?? 0));
                    whole.Write(part, 0, result.Count);
                    if (whole.Length > MessageMax) return NextWait(Lost);
                } while (!result.EndOfMessage);
                failures = 0;
                Enter("live");
                if (result.MessageType == WebSocketMessageType.Binary) return ReceivePrice(whole.ToArray());
                return Receive(Json.Parse(Encoding.UTF8.GetString(whole.ToArray())));
            }
        }

        private int? Receive(Json message)
        {
            Arrived();
            switch (message["type"].Text)
            {
                case "account":
                    ReceiveAccount(message);
                    return null;
                case "shutdown":
                    return (int)message["reconnectInMs"].Number;
                case "subscribed":
                    lock (gate) arriving = message["instrumentIds"].List.Select(one => one.Text).ToList();
                    // Busy players move to another process, which takes some seconds: all is asked for again.
                    return message["rejected"].List.Any(one => one["code"].Text == "busy") ? About(RetryMs) : (int?)null;
                case "error":
                    // The request is lost; a new connection repeats all of them.
                    return message["code"].Text == "bad_message" ? (int?)null : About(RetryMs);
                default:
                    return null;
            }
        }

        private int? ReceivePrice(byte[] bytes)
        {
            var frame = PriceFrame.Decode(bytes);
            if (frame == null) return null;
            if ((frame.Flags & (PriceFrame.Snapshot | PriceFrame.Replay)) == 0) Arrived();
            lock (gate)
            {
                Since last;
                var isKnown = newest.TryGetValue(frame.FixtureId, out last);
                if (!isKnown || frame.Epoch > last.Epoch || (frame.Epoch == last.Epoch && frame.Seq > last.Seq))
                    newest[frame.FixtureId] = new Since { Epoch = frame.Epoch, Seq = frame.Seq };
            }
            onPrice(frame);
            return null;
        }

        private void ReceiveAccount(Json changes)
        {
            var known = marker == null ? -1 : long.Parse(marker);
            marker = changes["marker"].Text;
            if (changes["snapshot"].IsTrue) onAccount(changes);
            else foreach (var one in changes["events"].List) if (long.Parse(one["marker"].Text) > known) onAccount(one);
        }

        private void Arrived()
        {
            lock (gate)
            {
                current.UnionWith(arriving.Where(followed.ContainsKey));
                arriving = new List<string>();
            }
        }

        private void Resume()
        {
            Send(marker == null ? Message("account") : Message("account", "since", marker));
            foreach (var match in followed.GroupBy(one => one.Value, one => one.Key).ToList())
            {
                Since last;
                var known = match.Where(current.Contains).ToList();
                Subscribe(match.Where(id => !current.Contains(id)).ToList(), null);
                Subscribe(known, newest.TryGetValue(match.Key, out last) ? (Since?)last : null);
            }
        }

        private void Subscribe(List<string> ids, Since? since)
        {
            current.ExceptWith(ids);
            foreach (var portion in Portions(ids))
            {
                var message = Message("subscribe", "instrumentIds", portion);
                if (since.HasValue)
                    message["since"] = new Dictionary<string, object> { { "epoch", since.Value.Epoch }, { "seq", since.Value.Seq } };
                Send(message);
            }
        }

        private static Dictionary<string, object> Message(string type, string field = null, object value = null)
        {
            var message = new Dictionary<string, object> { { "type", type } };
            if (field != null) message[field] = value;
            return message;
        }

        /// <summary>Behind the gate, so that messages follow one another.</summary>
        private void Send(Dictionary<string, object> message)
        {
            if (socket == null) return;
            var bytes = new ArraySegment<byte>(Encoding.UTF8.GetBytes(Json.Write(message)));
            try
            {
                using (var limit = Within(ConnectMs))
                    socket.SendAsync(bytes, WebSocketMessageType.Text, true, limit.Token).GetAwaiter().GetResult();
            }
            catch (Exception)
            {
                // The connection is lost: its thread notices, and the next one asks for everything again.
                socket.Abort();
            }
        }

        /// <summary>Longer each time, and at random from nothing on, so that a returning server is not overrun.</summary>
        private int NextWait(int code)
        {
            if (code == TooMany || code == AdminsOnly) return About(LongestWaitMs);
            var first = code == Restart || code == NoRoom ? RestartWaitMs : FirstWaitMs;
            return (int)(random.NextDouble() * Math.Min(LongestWaitMs, first * Math.Pow(2, failures++)));
        }

        private int About(int ms)
        {
            return (int)(ms * (0.5 + random.NextDouble()));
        }

        private void Enter(string next)
        {
            if (next == state) return;
            state = next;
            onState(next);
        }

        private static IEnumerable<List<string>> Portions(List<string> ids)
        {
            for (var n = 0; n < ids.Count; n += IdsMax) yield return ids.Skip(n).Take(IdsMax).ToList();
        }
    }
}
