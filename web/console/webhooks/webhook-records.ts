export interface Webhook {
  webhook_id: string
  url: string
  event_types: string[]
  description?: string
  status: 'enabled' | 'failing' | 'disabled' | 'archived'
  created_via: 'api' | 'playground'
  created_at: string
  updated_at: string
}

export type WebhookWithSecret = Webhook & { secret: string }

export interface Attempt {
  attempted_at: string
  status_code: number | null
  latency_ms: number
  error: string | null
  answer: string
}

export interface Delivery {
  delivery_id: string
  event_id: string
  event_type: string
  status: 'pending' | 'delivered' | 'failed'
  attempts: Attempt[]
  next_attempt_at: string | null
  created_at: string
}
