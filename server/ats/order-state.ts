export const orderStates = ['ordered', 'started', 'completed', 'declined', 'failed', 'cancelled', 'rejected'] as const
export type OrderState = (typeof orderStates)[number]
