"""Lists that fetch their pages as needed."""

from typing import Any, Callable, Dict, Generic, Iterator, Optional, TypeVar

Item = TypeVar("Item")
Page = TypeVar("Page")


class Pages(Generic[Item, Page]):
    """A list of the API.

    Iterate over it to get the items of all pages; each page is fetched when the loop reaches it. `first_page()` returns only the
    first page, and `pages()` iterates over the pages.
    """

    def __init__(self, fetch: Callable[[Dict[str, Any]], Page]) -> None:
        self._fetch = fetch

    def __iter__(self) -> Iterator[Item]:
        for page in self.pages():
            content: Any = page
            yield from content["items"] if "items" in content else content["data"]

    def first_page(self) -> Page:
        return self._fetch({})

    def pages(self) -> Iterator[Page]:
        query: Optional[Dict[str, Any]] = {}
        while query is not None:
            page = self._fetch(query)
            yield page
            query = _next_page_query(page)


def _next_page_query(page: Any) -> Optional[Dict[str, Any]]:
    """Return the query parameters of the next page, or None after the last one."""
    if "items" in page:
        cursor = page.get("next_cursor")
        return {"cursor": cursor} if cursor else None
    has_more = page["data"] and page["page"] * page["limit"] < page["count"]
    return {"page": page["page"] + 1} if has_more else None
