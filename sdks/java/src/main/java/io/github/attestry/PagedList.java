package io.github.attestry;

import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.Function;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** All items of a list. A page is fetched when the iteration reaches it, and every iteration starts at the first page. */
public final class PagedList<T> implements Iterable<T> {
    /**
     * A page of a list.
     *
     * @param next cursor or number of the next page, or null on the last page
     */
    public record Page<T>(List<T> items, String next) {
    }

    private final Function<String, Page<T>> fetch;

    /** Creates a list from a function that returns the page at a cursor; the first cursor is null. */
    public PagedList(Function<String, Page<T>> fetch) {
        this.fetch = fetch;
    }

    @Override
    public Iterator<T> iterator() {
        return new Iterator<>() {
            private Page<T> page;
            private int index;

            @Override
            public boolean hasNext() {
                while (page == null || index >= page.items().size()) {
                    if (page != null && page.next() == null) return false;
                    page = fetch.apply(page == null ? null : page.next());
                    index = 0;
                }
                return true;
            }

            @Override
            public T next() {
                if (!hasNext()) throw new NoSuchElementException();
                return page.items().get(index++);
            }
        };
    }

    /** Returns the items as a stream, which fetches pages as needed. */
    public Stream<T> stream() {
        return StreamSupport.stream(spliterator(), false);
    }
}
