import type { ComponentChildren } from 'preact'
import { translated } from './translate.ts'

type RichValue = ComponentChildren | ((inner: string) => ComponentChildren)

/**
 * Like `t`, for texts with elements: `{name}` stands for a value or an element, and `<name>words</name>` for an element that contains
 * translated words.
 */
export function richText(text: string, values: Record<string, RichValue>): ComponentChildren {
  const parts = translated(text).split(/(\{\w+\}|<\w+>[^<]*<\/\w+>)/)
  return parts.map((part) => {
    const [, placeholder, element, inner] = /^(?:\{(\w+)\}|<(\w+)>([^<]*)<\/\w+>)$/.exec(part) ?? []
    const value = values[placeholder ?? element ?? '']
    if (value === undefined) return placeholder === undefined && element === undefined ? part : ''
    return typeof value === 'function' ? value(inner ?? '') : value
  })
}
