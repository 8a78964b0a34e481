/** The operations of the REST API as methods in Python. */
import type { Described, DescribedOperation } from './described.ts'

export const pythonOperations = ({ operations }: Described): string => `\
"""Every operation of the REST API. Made from its description by \`npm run ops -- client-generate\`; do not edit."""
from .operation import Asks, operation


class Operations(Asks):
${operations.map(method).join('')}`

function method({ name, method: verb, path, summary, inQuery, takesKey, body }: DescribedOperation): string {
  const given = [
    `"${summary}."`,
    `'${verb}'`,
    `'${path}'`,
    ...(inQuery.length === 0 ? [] : [`query='${inQuery.map((one) => one.name).join(' ')}'`]),
    ...(body === null ? [] : [`body='${body.isRequired ? 'required' : 'optional'}'`]),
    ...(takesKey ? ['key=True'] : []),
  ]
  return `    ${name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)} = operation(${given.join(', ')})\n`
}
