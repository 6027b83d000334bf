/**
 * Words that advertisements often spell in another way: the catalogue's spelling first, then what people write.
 */
const LINES = `
technician technican technicien techinician techincian tecnician technitian
electrician electrition electrican electritian eletrician electricion
electrical electical elctrical eletrical electricle
mechanic mechnic machanic mechenic macanic mechanik
mechanical mechnical machanical
maintenance maintainance maintenence maintanance maintainence mantenance
installation instalation installaton instllation
operator oprator operater oparator oprater
operation opration oparation
machine machin mashine mechine
machinery machinary
supervisor superviser supervisior suparvisor suprevisor
fabrication febrication fabricaton
fabricator febricator fabricater
carpenter carpentar carpanter carpainter carpentor
plumber plumer plumbar palmber
plumbing pluming plumbling
painter pantar paintar
welder weldar veldar
welding velding weilding
fitter fiter fittar
fitting fiting
driver drivar driwer
driving draiving driveing
security sequrity securty sicurity
housekeeping houskeeping housekeping
beautician beutician beautition beautican
accountant acountant accontant accountent
accounting acounting
cashier casher cashiar
telecaller telecallar tellecaller
receptionist receptionst reciptionist receptonist
packaging packging pakaging packeging
packing paking
loading loding
unloading unloding
delivery delivary dilivery delivry
refrigerator refrigrator refridgerator refrigirator
refrigeration refrigration
stitching stiching
embroidery embroidary embroydery
tuition tution tuation
mathematics mathmatics
computer compuer comuter computar
software softwear
hardware hardwear
knowledge knowlege
calibration calliberation calibaration
quality qaulity qulity
inspection inspecton
jewellery jewelery jwellery jewellary
aluminium alluminium aluminiam
tyre tire
grey gray
anaesthesia anesthesia
chartered charterd
photoshop photoshoop
excel exel excell
nursing nursng
pharmacist farmacist pharmasist
physiotherapy fisiotherapy physiotheraphy
restaurant resturant restaurent
waiter weiter waitar
agriculture agricultur
gardener gardner
gardening gardning
`

const spellings: ReadonlyMap<string, readonly string[]> = new Map(
  LINES.trim()
    .split('\n')
    .map((line) => line.split(' '))
    .map(([word, ...others]) => [word!, others]),
)
const NONE: readonly string[] = []

/** Other ways in which people write a word. */
export function misspellingsOf(word: string): readonly string[] {
  return spellings.get(word) ?? NONE
}
