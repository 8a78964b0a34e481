/** The operations of the REST API as methods in C#. */
import type { Described, DescribedOperation } from './described.ts'

export const csharpOperations = ({ operations }: Described): string => `\
using System.Collections.Generic;

namespace Touchline
{
    /// <summary>Every operation of the REST API. Made from its description, not by hand.</summary>
    public abstract class Operations
    {
        protected abstract Json Ask(
            string method, string path, IReadOnlyDictionary<string, object> query, object body, string key);

        protected abstract string Part(object value);
${operations.map(method).join('')}    }
}
`

function method({ name, method: verb, path, summary, inPath, inQuery, takesKey, body }: DescribedOperation): string {
  const parameters = [
    ...inPath.map((one) => `object ${one.name}`),
    ...(body === null ? [] : ['object body']),
    ...(takesKey ? ['string key'] : []),
    ...(inQuery.length === 0 ? [] : ['IReadOnlyDictionary<string, object> query = null']),
  ]
  const address = `"${path.replaceAll(/\{(\w+)\}/g, '" + Part($1) + "')}"`.replace(/ \+ ""$/, '')
  const given = [
    `"${verb}"`,
    address,
    inQuery.length === 0 ? 'null' : 'query',
    body === null ? 'null' : 'body',
    takesKey ? 'key' : 'null',
  ]
  const names = inQuery.map((one) => `<c>${one.name}</c>`)
  return `
        /// <summary>${summary.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}.${
          names.length === 0 ? '' : ` Query: ${names.join(', ')}.`
        }</summary>
        public Json ${name.charAt(0).toUpperCase()}${name.slice(1)}(${parameters.join(', ')})
        {
            return Ask(${given.join(', ')});
        }
`
}
