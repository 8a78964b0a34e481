/** The operations of the REST API as methods in Python. */
import type { Described, DescribedOperation } from './described.ts'

export const pythonOperations = ({ operations }: Described): string => `\
"""Every operation of the REST API. Made from its description by \`npm run ops -- client-generate\`; do not edit."""
from typing import Any, Mapping, Optional
from urllib.parse import quote


def _part(value: Any) -> str:
    return quote(str(value), safe='')


class Operations:
    def ask(self, method: str, path: str, query: Optional[Mapping[str, Any]] = None, body: Any = None,
            key: Optional[str] = None) -> Any:
        raise NotImplementedError
${operations.map(method).join('')}`

function method({ name, method: verb, path, summary, inPath, inQuery, takesKey, body }: DescribedOperation): string {
  const options = [
    ...inQuery.map((one) => (one.isRequired ? `${snake(one.name)}: Any` : `${snake(one.name)}: Any = None`)),
    ...(takesKey ? ['key: Optional[str] = None'] : []),
  ]
  const parameters = [
    'self',
    ...inPath.map((one) => `${snake(one.name)}: Any`),
    ...(body === null ? [] : [body.isRequired ? 'body: Any' : 'body: Any = None']),
    ...(options.length === 0 ? [] : ['*', ...options]),
  ]
  const address =
    inPath.length === 0
      ? `'${path}'`
      : `f'${path.replaceAll(/\{(\w+)\}/g, (_, of: string) => `{_part(${snake(of)})}`)}'`
  const query = inQuery.map((one) => `'${one.name}': ${snake(one.name)}`)
  const given = [
    `'${verb}'`,
    address,
    ...(query.length === 0 ? [] : [`{${query.join(', ')}}`]),
    ...(body === null ? [] : ['body=body']),
    ...(takesKey ? ['key=key'] : []),
  ]
  return `
    def ${snake(name)}(${parameters.join(', ')}) -> Any:
        """${summary}."""
        return self.ask(${given.join(', ')})
`
}

const RESERVED = new Set(['from', 'class', 'import', 'in', 'is', 'not', 'or', 'and', 'global'])

function snake(name: string): string {
  const words = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return RESERVED.has(words) ? `${words}_` : words
}
