package attestry

import "context"

// Iterator reads a list item by item and fetches a page when the loop reaches it:
//
//	mandates := client.Mandates.All(ctx, nil)
//	for mandates.Next() {
//		fmt.Println(mandates.Item().MandateID)
//	}
//	if err := mandates.Err(); err != nil {
//		return err
//	}
type Iterator[T any] struct {
	ctx     context.Context
	fetch   fetchPage[T]
	items   []T
	index   int
	cursor  string
	hasMore bool
	err     error
}

// fetchPage returns the items of a page, the cursor of the next page, and whether there is one. The first cursor is
// empty.
type fetchPage[T any] func(ctx context.Context, cursor string) (items []T, next string, hasMore bool, err error)

func newIterator[T any](ctx context.Context, fetch fetchPage[T]) *Iterator[T] {
	return &Iterator[T]{ctx: ctx, fetch: fetch, index: -1, hasMore: true}
}

// Next advances to the next item. It returns false at the end of the list and after an error.
func (it *Iterator[T]) Next() bool {
	it.index++
	for it.err == nil && it.index >= len(it.items) && it.hasMore {
		it.items, it.cursor, it.hasMore, it.err = it.fetch(it.ctx, it.cursor)
		it.index = 0
	}
	return it.err == nil && it.index < len(it.items)
}

// Item returns the current item.
func (it *Iterator[T]) Item() T { return it.items[it.index] }

// Err returns the error that ended the iteration, or nil at the end of the list.
func (it *Iterator[T]) Err() error { return it.err }
