import type { AdapterName } from '../../server/ats/adapter.ts'
import { simulateAshby } from './ashby.ts'
import { simulateGreenhouse } from './greenhouse.ts'
import { simulateKombo } from './kombo.ts'
import type { SimulatedAts, SimulatedAtsOptions } from './simulated-ats.ts'
import { simulateWorkable } from './workable.ts'

/** The simulation of each ATS. */
export const simulations: Record<AdapterName, (options: SimulatedAtsOptions) => Promise<SimulatedAts>> = {
  greenhouse: simulateGreenhouse,
  ashby: simulateAshby,
  workable: simulateWorkable,
  kombo: simulateKombo,
}
