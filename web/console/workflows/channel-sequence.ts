import type { Channel } from '../../api-types/partner.ts'
import { t } from '../../translations/translate.ts'
import { CHANNEL_NAMES } from '../shared/labels.ts'

/** Returns the names of channels in the order of their use, such as "WhatsApp, then SMS". */
export function channelSequence(channels: readonly Channel[]): string {
  return channels
    .map((channel) => CHANNEL_NAMES[channel])
    .reduce((first, second) => t('{first}, then {second}', { first, second }))
}
