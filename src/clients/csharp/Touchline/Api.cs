using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Net.Http;
using System.Security.Cryptography;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace Touchline
{
    /// <summary>
    /// The server refused, or (status 0, code <c>OFFLINE</c>) could not be reached. Act on <see cref="Code"/>.
    /// </summary>
    public sealed class ApiException : Exception
    {
        internal ApiException(int status, Json facts)
            : base(facts["error"].IsNull ? "no answer" : facts["error"].Text)
        {
            Status = status;
            Code = facts["code"].IsNull ? "HTTP_" + status : facts["code"].Text;
            Facts = facts;
        }

        public int Status { get; }
        /// <summary>For programs.</summary>
        public string Code { get; }
        /// <summary>The whole body of the answer.</summary>
        public Json Facts { get; }
    }

    /// <summary>
    /// REST with a personal key. Every operation of the API is a method, named as in its description. A read, and a
    /// request with a key, is repeated when the network or the server fails. Calls block; safe to share among threads.
    /// </summary>
    public sealed class Api : Operations, IDisposable
    {
        private const int Attempts = 4;
        private const double FirstPauseMs = 250;
        private const double LongestPauseMs = 3000;

        private readonly HttpClient http = new HttpClient { Timeout = TimeSpan.FromSeconds(30) };
        private readonly string baseUrl;
        private readonly string personalKey;
        private readonly Random random = new Random();

        public Api(string baseUrl, string personalKey)
        {
            this.baseUrl = baseUrl.TrimEnd('/');
            this.personalKey = personalKey;
        }

        /// <summary>A key for one order: repeat the order with the same key, and it is carried out once.</summary>
        public static string NewKey()
        {
            var bytes = new byte[16];
            using (var source = RandomNumberGenerator.Create()) source.GetBytes(bytes);
            return string.Concat(bytes.Select(one => one.ToString("x2")));
        }

        public void Dispose()
        {
            http.Dispose();
        }

        protected override string Part(object value)
        {
            return Uri.EscapeDataString(Convert.ToString(value, CultureInfo.InvariantCulture));
        }

        protected override Json Ask(
            string method, string path, IReadOnlyDictionary<string, object> query, object body, string key)
        {
            var mayRepeat = method == "GET" || key != null;
            for (var attempt = 1; ; attempt++)
            {
                var isLast = !mayRepeat || attempt == Attempts;
                double wait = 0;
                try
                {
                    using (var request = Request(method, path, query, body, key))
                    using (var answer = http.SendAsync(request).GetAwaiter().GetResult())
                    {
                        var said = Read(answer.Content.ReadAsStringAsync().GetAwaiter().GetResult());
                        if (answer.IsSuccessStatusCode) return said;
                        var status = (int)answer.StatusCode;
                        var code = said["code"].IsNull ? "" : said["code"].Text;
                        var isPassing = (status == 503 && code != "COMING_SOON") || code == "KEY_IN_FLIGHT";
                        if (!isPassing || isLast) throw new ApiException(status, said);
                        var asked = answer.Headers.RetryAfter;
                        if (asked != null && asked.Delta.HasValue) wait = asked.Delta.Value.TotalMilliseconds;
                    }
                }
                catch (Exception fault) when (fault is HttpRequestException || fault is TaskCanceledException)
                {
                    const string offline = "{\"error\":\"the server cannot be reached\",\"code\":\"OFFLINE\"}";
                    if (isLast) throw new ApiException(0, Json.Parse(offline));
                }
                double chance;
                lock (random) chance = random.NextDouble();
                var own = FirstPauseMs * Math.Pow(2, attempt - 1) * (0.5 + chance);
                Thread.Sleep((int)Math.Min(LongestPauseMs, Math.Max(own, wait)));
            }
        }

        private HttpRequestMessage Request(
            string method, string path, IReadOnlyDictionary<string, object> query, object body, string key)
        {
            var given = query == null ? "" : string.Join("&", query.Select(one => Part(one.Key) + "=" + Part(one.Value)));
            var address = baseUrl + path + (given == "" ? "" : "?" + given);
            var request = new HttpRequestMessage(new HttpMethod(method), address);
            request.Headers.Add("authorization", "Bearer " + personalKey);
            if (key != null) request.Headers.Add("idempotency-key", key);
            if (body != null) request.Content = new StringContent(Json.Write(body), Encoding.UTF8, "application/json");
            return request;
        }

        private static Json Read(string body)
        {
            try
            {
                return Json.Parse(body);
            }
            catch (FormatException)
            {
                return Json.Parse("{}");
            }
        }
    }
}
