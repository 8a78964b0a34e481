/** The operations of the REST API as methods in Java. */
import type { Described, DescribedOperation } from './described.ts'

export const javaOperations = ({ operations }: Described): string => `\
package touchline;

import java.util.Map;

/** Every operation of the REST API. Made from its description by \`npm run ops -- client-generate\`; do not edit. */
public abstract class Operations {
  abstract Json ask(String method, String path, Map<String, ?> query, Object body, String key);

  abstract String part(Object value);
${operations.map(method).join('')}}
`

function method({ name, method: verb, path, summary, inPath, inQuery, takesKey, body }: DescribedOperation): string {
  const parameters = [
    ...inPath.map((one) => `Object ${one.name}`),
    ...(inQuery.length === 0 ? [] : ['Map<String, ?> query']),
    ...(body === null ? [] : ['Object body']),
    ...(takesKey ? ['String key'] : []),
  ]
  const address = `"${path.replaceAll(/\{(\w+)\}/g, '" + part($1) + "')}"`.replace(/ \+ ""$/, '')
  const given = [
    `"${verb}"`,
    address,
    inQuery.length === 0 ? 'Map.of()' : 'query',
    body === null ? 'null' : 'body',
    takesKey ? 'key' : 'null',
  ]
  const names = inQuery.map((one) => `{@code ${one.name}}`)
  return `
  /** ${summary}.${names.length === 0 ? '' : ` Query: ${names.join(', ')}.`} */
  public Json ${name}(${parameters.join(', ')}) {
    return ask(${given.join(', ')});
  }
`
}
