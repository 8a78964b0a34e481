using System;
using System.Collections;
using System.Collections.Generic;
using System.Globalization;
using System.Text;

namespace Touchline
{
    /// <summary>A JSON value. What is absent is null, so that a path into an answer needs no checks.</summary>
    public sealed class Json
    {
        private const int DepthMax = 200;
        private static readonly Json Null = new Json(null);
        private static readonly Json[] None = new Json[0];

        /// <summary>A Dictionary, List, string, double, bool or null.</summary>
        private readonly object value;

        private Json(object value)
        {
            this.value = value;
        }

        /// <summary>The field of this name; null if this is no object or has no such field.</summary>
        public Json this[string name]
        {
            get
            {
                Json found;
                var fields = value as Dictionary<string, Json>;
                return fields != null && fields.TryGetValue(name, out found) ? found : Null;
            }
        }

        /// <summary>The elements; none if this is no array.</summary>
        public IReadOnlyList<Json> List
        {
            get { return value as IReadOnlyList<Json> ?? None; }
        }

        public bool IsNull
        {
            get { return value == null; }
        }

        public bool IsTrue
        {
            get { return value is bool && (bool)value; }
        }

        /// <summary>Throws InvalidOperationException if this is no string.</summary>
        public string Text
        {
            get { return value as string ?? throw new InvalidOperationException("no string: " + this); }
        }

        /// <summary>Throws InvalidOperationException if this is no number.</summary>
        public double Number
        {
            get { return value is double ? (double)value : throw new InvalidOperationException("no number: " + this); }
        }

        public override string ToString()
        {
            return Write(this);
        }

        /// <summary>Dictionaries, lists, strings, numbers, booleans, Json and null as JSON.</summary>
        public static string Write(object given)
        {
            var text = new StringBuilder();
            Write(given, text);
            return text.ToString();
        }

        private static void Write(object given, StringBuilder text)
        {
            if (given is Json) given = ((Json)given).value;
            if (given == null)
            {
                text.Append("null");
            }
            else if (given is bool)
            {
                text.Append((bool)given ? "true" : "false");
            }
            else if (given is string)
            {
                Quote((string)given, text);
            }
            else if (given is IDictionary)
            {
                var separator = '{';
                foreach (DictionaryEntry field in (IDictionary)given)
                {
                    text.Append(separator);
                    Quote(field.Key.ToString(), text);
                    text.Append(':');
                    Write(field.Value, text);
                    separator = ',';
                }
                text.Append(separator == '{' ? "{}" : "}");
            }
            else if (given is IEnumerable)
            {
                var separator = "";
                text.Append('[');
                foreach (var one in (IEnumerable)given)
                {
                    text.Append(separator);
                    Write(one, text);
                    separator = ",";
                }
                text.Append(']');
            }
            else
            {
                var number = Convert.ToDouble(given, CultureInfo.InvariantCulture);
                text.Append(number.ToString("R", CultureInfo.InvariantCulture));
            }
        }

        private static void Quote(string given, StringBuilder text)
        {
            text.Append('"');
            foreach (var c in given)
            {
                if (c == '"' || c == '\\') text.Append('\\').Append(c);
                else if (c < ' ') text.Append("\\u").Append(((int)c).ToString("x4"));
                else text.Append(c);
            }
            text.Append('"');
        }

        /// <summary>Throws FormatException if the text is not JSON.</summary>
        public static Json Parse(string text)
        {
            var parser = new Parser(text);
            var whole = parser.Value(0);
            parser.End();
            return whole;
        }

        private sealed class Parser
        {
            private readonly string text;
            private int at;

            public Parser(string text)
            {
                this.text = text;
            }

            private FormatException Wrong()
            {
                return new FormatException("not JSON at character " + at);
            }

            private void Space()
            {
                while (at < text.Length && " \t\n\r".IndexOf(text[at]) >= 0) at++;
            }

            private bool Takes(string wanted)
            {
                if (string.CompareOrdinal(text, at, wanted, 0, wanted.Length) != 0) return false;
                at += wanted.Length;
                return true;
            }

            public void End()
            {
                Space();
                if (at != text.Length) throw Wrong();
            }

            public Json Value(int depth)
            {
                if (depth > DepthMax) throw Wrong();
                Space();
                if (Takes("{")) return Object(depth);
                if (Takes("[")) return Array(depth);
                if (Takes("\"")) return new Json(String());
                if (Takes("true")) return new Json(true);
                if (Takes("false")) return new Json(false);
                if (Takes("null")) return Null;
                var start = at;
                while (at < text.Length && "+-.eE0123456789".IndexOf(text[at]) >= 0) at++;
                double number;
                var digits = text.Substring(start, at - start);
                if (!double.TryParse(digits, NumberStyles.Float, CultureInfo.InvariantCulture, out number)) throw Wrong();
                return new Json(number);
            }

            private Json Object(int depth)
            {
                var fields = new Dictionary<string, Json>();
                Space();
                if (Takes("}")) return new Json(fields);
                do
                {
                    Space();
                    if (!Takes("\"")) throw Wrong();
                    var name = String();
                    Space();
                    if (!Takes(":")) throw Wrong();
                    fields[name] = Value(depth + 1);
                    Space();
                } while (Takes(","));
                if (!Takes("}")) throw Wrong();
                return new Json(fields);
            }

            private Json Array(int depth)
            {
                var elements = new List<Json>();
                Space();
                if (Takes("]")) return new Json(elements);
                do
                {
                    elements.Add(Value(depth + 1));
                    Space();
                } while (Takes(","));
                if (!Takes("]")) throw Wrong();
                return new Json(elements);
            }

            private string String()
            {
                var found = new StringBuilder();
                while (at < text.Length)
                {
                    var c = text[at++];
                    if (c == '"') return found.ToString();
                    if (c != '\\')
                    {
                        found.Append(c);
                        continue;
                    }
                    if (at == text.Length) break;
                    var escaped = text[at++];
                    var plain = "\"\\/bfnrt".IndexOf(escaped);
                    if (plain >= 0)
                    {
                        found.Append("\"\\/\b\f\n\r\t"[plain]);
                    }
                    else if (escaped == 'u' && at + 4 <= text.Length)
                    {
                        found.Append((char)ushort.Parse(text.Substring(at, 4), NumberStyles.AllowHexSpecifier));
                        at += 4;
                    }
                    else
                    {
                        throw Wrong();
                    }
                }
                throw Wrong();
            }
        }
    }
}
