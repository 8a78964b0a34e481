package touchline;

/** The server refused, or (status 0, code {@code OFFLINE}) could not be reached. Act on {@link #code}. */
public final class ApiException extends RuntimeException {
  private static final long serialVersionUID = 1;

  public final int status;
  /** For programs. */
  public final String code;
  /** The whole body of the answer. */
  public final transient Json facts;

  ApiException(int status, Json facts) {
    super(facts.get("error").isNull() ? "no answer" : facts.get("error").text());
    this.status = status;
    this.code = facts.get("code").isNull() ? "HTTP_" + status : facts.get("code").text();
    this.facts = facts;
  }
}
