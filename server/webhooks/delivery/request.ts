/** The parts of an event that its deliveries contain. */
export interface DeliveredEvent {
  event_id: string
  type: string
  mode: 'test' | 'live'
  sequence: number
  created_at: Date
  /** JSON. */
  data: string
}

/** Returns the request body, which is the same in each attempt. */
export function deliveryBody({ event_id, type, mode, sequence, created_at, data }: DeliveredEvent): string {
  return `{"event_id":"${event_id}","type":"${type}","mode":"${mode}","sequence":${sequence},"created_at":"${created_at.toISOString()}","data":${data}}`
}

/** Returns the time in the signed header, in seconds since 1970. */
export function deliveryTimestamp(attemptedAt: number): number {
  return Math.floor(attemptedAt / 1000)
}

/** Returns the request headers as names and values. The signature is undefined if it was not stored. */
export function deliveryHeaders(eventId: string, timestamp: number, signature: string | undefined): [string, string][] {
  return [
    ['content-type', 'application/json'],
    ['user-agent', 'Attestry-Webhooks/1'],
    ['webhook-id', eventId],
    ['webhook-timestamp', String(timestamp)],
    ...(signature === undefined ? [] : ([['webhook-signature', signature]] as [string, string][])),
  ]
}
