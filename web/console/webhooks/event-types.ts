import { useEffect, useState } from 'preact/hooks'
import { api } from '../shell/api.ts'

/** They change with the server alone: asked for once. */
let known: string[] | undefined

/** Every type of event there is, as the server lists them; empty until it has. */
export function useEventTypes(): string[] {
  const [types, setTypes] = useState(known ?? [])
  useEffect(() => {
    if (known) return
    void api<{ items: string[] }>('/event-types').then((answer) => {
      if (!answer.ok) return
      known = answer.data.items
      setTypes(known)
    })
  }, [])
  return types
}

/** The chosen ones in a few words. */
export function typesText(chosen: string[], all: string[]): string {
  if (all.length > 0 && chosen.length >= all.length) return 'all'
  return chosen.length > 3 ? `${chosen.slice(0, 3).join(', ')} and ${chosen.length - 3} more` : chosen.join(', ')
}
