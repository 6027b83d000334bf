import { useEffect, useState } from 'preact/hooks'
import type { EventTypeList } from '../../api-types/console.ts'
import type { EventType } from '../../api-types/partner.ts'
import { t } from '../../translations/translate.ts'
import { api } from '../shell/api.ts'

/** The event types. They are loaded once, because they change only with a new version of the server. */
let cachedTypes: EventType[] | undefined

/** Returns all event types; empty until they are loaded. */
export function useEventTypes(): EventType[] {
  const [types, setTypes] = useState(cachedTypes ?? [])
  useEffect(() => {
    if (cachedTypes) return
    void api<EventTypeList>('/event-types').then((response) => {
      if (!response.ok) return
      cachedTypes = response.data.items
      setTypes(cachedTypes)
    })
  }, [])
  return types
}

/** Returns a short description of the selected event types. */
export function typesText(selected: string[], all: string[]): string {
  if (all.length > 0 && selected.length >= all.length) return t('all')
  return selected.length > 3
    ? t('{types} and {count} more', { types: selected.slice(0, 3).join(', '), count: selected.length - 3 })
    : selected.join(', ')
}
