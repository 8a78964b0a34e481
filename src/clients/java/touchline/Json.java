package touchline;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A JSON value. What is absent is null, so that a path into an answer needs no checks. */
public final class Json {
  private static final int DEPTH_MAX = 200;
  private static final Json NULL = new Json(null);

  /** A Map, List, String, Double, Boolean or null. */
  private final Object value;

  private Json(Object value) {
    this.value = value;
  }

  /** The field of this name; null if this is no object or has no such field. */
  public Json get(String name) {
    return value instanceof Map<?, ?> fields && fields.get(name) instanceof Json found ? found : NULL;
  }

  /** The elements; none if this is no array. */
  public List<Json> list() {
    List<Json> found = new ArrayList<>();
    if (value instanceof List<?> elements) for (Object one : elements) found.add((Json) one);
    return found;
  }

  public boolean isNull() {
    return value == null;
  }

  public boolean isTrue() {
    return Boolean.TRUE.equals(value);
  }

  /** Throws IllegalStateException if this is no string. */
  public String text() {
    if (value instanceof String found) return found;
    throw new IllegalStateException("no string: " + this);
  }

  /** Throws IllegalStateException if this is no number. */
  public double number() {
    if (value instanceof Double found) return found;
    throw new IllegalStateException("no number: " + this);
  }

  @Override
  public String toString() {
    return write(this);
  }

  /** Maps, lists, strings, numbers, booleans, Json and null as JSON. */
  public static String write(Object given) {
    StringBuilder out = new StringBuilder();
    write(given, out);
    return out.toString();
  }

  private static void write(Object given, StringBuilder out) {
    if (given instanceof Json json) {
      write(json.value, out);
    } else if (given instanceof Map<?, ?> fields) {
      String separator = "{";
      for (Map.Entry<?, ?> field : fields.entrySet()) {
        out.append(separator);
        quote(field.getKey().toString(), out);
        out.append(':');
        write(field.getValue(), out);
        separator = ",";
      }
      out.append(fields.isEmpty() ? "{}" : "}");
    } else if (given instanceof Iterable<?> elements) {
      String separator = "";
      out.append('[');
      for (Object one : elements) {
        out.append(separator);
        write(one, out);
        separator = ",";
      }
      out.append(']');
    } else if (given instanceof Double number && number == Math.rint(number) && Math.abs(number) < 1e15) {
      out.append(number.longValue());
    } else if (given == null || given instanceof Number || given instanceof Boolean) {
      out.append(given);
    } else {
      quote(given.toString(), out);
    }
  }

  private static void quote(String text, StringBuilder out) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') out.append('\\').append(c);
      else if (c < 0x20) out.append(String.format("\\u%04x", (int) c));
      else out.append(c);
    }
    out.append('"');
  }

  /** Throws IllegalArgumentException if the text is not JSON. */
  public static Json parse(String text) {
    Parser parser = new Parser(text);
    Json whole = parser.value(0);
    parser.space();
    if (parser.at != text.length()) throw parser.wrong();
    return whole;
  }

  private static final class Parser {
    private final String text;
    private int at = 0;

    Parser(String text) {
      this.text = text;
    }

    IllegalArgumentException wrong() {
      return new IllegalArgumentException("not JSON at character " + at);
    }

    void space() {
      while (at < text.length() && " \t\n\r".indexOf(text.charAt(at)) >= 0) at++;
    }

    boolean takes(String wanted) {
      if (!text.startsWith(wanted, at)) return false;
      at += wanted.length();
      return true;
    }

    Json value(int depth) {
      if (depth > DEPTH_MAX) throw wrong();
      space();
      if (takes("{")) return object(depth);
      if (takes("[")) return array(depth);
      if (takes("\"")) return new Json(string());
      if (takes("true")) return new Json(true);
      if (takes("false")) return new Json(false);
      if (takes("null")) return NULL;
      int start = at;
      while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) at++;
      try {
        return new Json(Double.valueOf(text.substring(start, at)));
      } catch (NumberFormatException none) {
        throw wrong();
      }
    }

    private Json object(int depth) {
      Map<String, Json> fields = new LinkedHashMap<>();
      space();
      if (takes("}")) return new Json(fields);
      do {
        space();
        if (!takes("\"")) throw wrong();
        String name = string();
        space();
        if (!takes(":")) throw wrong();
        fields.put(name, value(depth + 1));
        space();
      } while (takes(","));
      if (!takes("}")) throw wrong();
      return new Json(fields);
    }

    private Json array(int depth) {
      List<Json> elements = new ArrayList<>();
      space();
      if (takes("]")) return new Json(elements);
      do {
        elements.add(value(depth + 1));
        space();
      } while (takes(","));
      if (!takes("]")) throw wrong();
      return new Json(elements);
    }

    private String string() {
      StringBuilder out = new StringBuilder();
      while (at < text.length()) {
        char c = text.charAt(at++);
        if (c == '"') return out.toString();
        if (c != '\\') {
          out.append(c);
          continue;
        }
        if (at == text.length()) break;
        char escaped = text.charAt(at++);
        int plain = "\"\\/bfnrt".indexOf(escaped);
        if (plain >= 0) {
          out.append("\"\\/\b\f\n\r\t".charAt(plain));
        } else if (escaped == 'u' && at + 4 <= text.length()) {
          out.append((char) Integer.parseInt(text.substring(at, at + 4), 16));
          at += 4;
        } else {
          throw wrong();
        }
      }
      throw wrong();
    }
  }
}
