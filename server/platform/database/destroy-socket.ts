import type pg from 'pg'

/** Closes a connection without the usual handshake, which would wait for a response too. */
export function destroySocket(client: pg.ClientBase): void {
  const { stream } = (client as unknown as { connection: { stream: { destroy(): void } } }).connection
  stream.destroy()
}
