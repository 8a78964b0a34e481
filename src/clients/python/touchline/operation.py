"""Makes a method of an operation of the REST API."""
import inspect
import keyword
import re
from typing import Any, Callable, Mapping, Optional
from urllib.parse import quote


class Asks:
    def ask(self, method: str, path: str, query: Optional[Mapping[str, Any]] = None, body: Any = None,
            key: Optional[str] = None) -> Any:
        raise NotImplementedError


def operation(summary: str, method: str, path: str, query: str = '', body: Optional[str] = None,
              key: bool = False) -> Callable[..., Any]:
    """Its arguments: what the path names, the body, and by name what the query may have and the key."""
    in_path = re.findall(r'\{(\w+)\}', path)
    in_query = query.split()
    plain = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD)
             for name in ['self', *map(_snake, in_path)]]
    if body is not None:
        default = inspect.Parameter.empty if body == 'required' else None
        plain.append(inspect.Parameter('body', inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default))
    named = [inspect.Parameter(_snake(name), inspect.Parameter.KEYWORD_ONLY, default=None)
             for name in [*in_query, *(['key'] if key else [])]]
    signature = inspect.Signature([*plain, *named])

    def call(*args: Any, **options: Any) -> Any:
        given = signature.bind(*args, **options).arguments
        address = path
        for name in in_path:
            address = address.replace('{' + name + '}', quote(str(given[_snake(name)]), safe=''))
        asked = {name: given.get(_snake(name)) for name in in_query}
        return given['self'].ask(method, address, asked, body=given.get('body'), key=given.get('key') if key else None)

    call.__doc__ = summary
    setattr(call, '__signature__', signature)
    return call


def _snake(name: str) -> str:
    words = re.sub(r'[A-Z]', lambda letter: '_' + letter.group().lower(), name)
    return words + '_' if keyword.iskeyword(words) else words
