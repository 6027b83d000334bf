import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseBuiltInCatalogue, readBuiltInCatalogueFiles } from './built-in.ts'
import { buildSkillIndexSync } from './index/skill-index.ts'

/** Skills that recruiters expect first, each with common queries, separated by commas. */
const QUERIES_BY_FIRST_SKILL: Record<string, string> = {
  'House wiring':
    'bijli, बिजली, bijlee, bijli wala, bijli mistri, electrician, elctrician, electritian, wireman, इलेक्ट्रीशियन, wiring, electrical wiring, elec, electr',
  'Arc welding': 'weldng, welding, welder, वेल्डिंग, वेल्डर, wellding, welding ka kaam, weld',
  Bricklaying: 'raj mistri, rajmistri, राजमिस्त्री, raj mistry, mason, brick',
  'Cement plastering': 'plaster, palastar',
  'House plumbing': 'plumber, plumbr, plumbing, nal, nal ka kaam, प्लंबर, plumer, plum',
  'Tap and valve repair': 'nal theek karna',
  'Ladies suit tailoring': 'darzi, दर्जी, tailor, silai, tail, सिलाई',
  'North Indian cooking': 'rasoiya, रसोइया, cook',
  'Mughlai and biryani cooking': 'bawarchi',
  'Home cooking service': 'khana banana, खाना बनाना, khaana',
  'Halwai sweet making': 'halwai, mithai',
  'Car driving':
    'gaadi chalana, गाड़ी चलाना, driver, driving, car driver, drivar, ड्राइवर, driv, drive, driver required, driver ki naukri',
  'Heavy truck driving': 'truck driver',
  'Auto rickshaw driving': 'auto driver, auto rickshaw',
  'E-rickshaw driving': 'e rickshaw chalana',
  'Sugarcane cultivation': 'ganna',
  'Inverter and UPS repair': 'inverter repair',
  'Buttonholing and button attaching': 'button',
  'Excel VBA macros': 'macro',
  'Static guarding': 'chowkidar, चौकीदार, security guard, guard, watchman, securty gard, secur',
  'Sweeping and dusting': 'safai, सफाई, safai karmchari, jhadu pocha, sweeper, jhadu',
  'Windows computer use': 'computer chalana, computer, computr',
  'Data entry': 'computer operator, data enrty, data entry, dataentry, data en',
  'Microsoft Excel': 'excell, excel, ms excel, ms office',
  JavaScript: 'java scrpt, javascript',
  Java: 'java',
  Python: 'pyhton, python',
  'C++': 'c++',
  'C programming': 'c',
  SQL: 'sql',
  React: 'react js',
  'Forklift operation': 'forklift chalak, forklift, fork lift operator',
  'AC servicing': 'AC mechanic',
  'AC fault diagnosis': 'ac repair',
  'Refrigerator repair': 'fridge repair, fridge mechanic, fridge',
  'Bench fitting': 'fitter, fiter',
  'Tally Prime': 'tally, tally prime, टैली',
  'English typing': 'typing, टाइपिंग',
  'Hindi typing': 'hindi typing',
  Carpentry: 'carpenter, badhai, बढ़ई, barhai, carpentar, carp',
  'Wall painting': 'painter, rang rogan, पुताई, putai, paint, painting, pain, पेंटर',
  'Tile laying': 'tile mistri, tiles, टाइल्स',
  'Marble and granite laying': 'marble',
  'Bar bending': 'saria, sariya, bar bender',
  'Shuttering carpentry': 'shuttering',
  'Scaffolding erection': 'scaffolding',
  'Backhoe loader operation': 'jcb, jcb chalana, जेसीबी',
  'Mobile crane operation': 'crane',
  'Hydra crane operation': 'hydra',
  'Tractor operation': 'tractor',
  'Bus driving': 'bus driver, bus',
  'Last-mile parcel delivery': 'delivery boy, deliv',
  'Two-wheeler repair': 'bike mechanic, bike',
  'Car periodic service': 'car mechanic',
  'Puncture repair': 'puncture',
  'Automotive painting': 'denting painting',
  'Mobile phone repair': 'mobile repair, mobile reparing, mobile',
  'Laptop repair': 'laptop repair',
  'Rooftop solar installation': 'solar panel, solar, sola',
  'Lathe machine operation': 'lathe, kharad, lathe operator',
  'CNC turning operation': 'cnc, cnc operator',
  'VMC operation': 'vmc',
  'In-process quality inspection': 'quality inspector',
  'General nursing and midwifery': 'nurse, nursing, nurs, नर्स',
  'Medicine dispensing': 'pharmacist',
  'Medical laboratory technology': 'lab technician',
  'Ambulance driving': 'ambulance driver',
  'Toddler supervision': 'nanny',
  'Mehndi application': 'mehndi, मेहंदी',
  'Facial treatment': 'beautician',
  'Haircutting for women': 'hair cutting, hair',
  "Men's haircutting": 'nai, barber',
  'Yoga instruction': 'yoga',
  'Personal training': 'gym trainer',
  Gardening: 'mali, gardener, माली',
  'Pond fish farming': 'machhli palan',
  'Broiler farming': 'poultry',
  'Order packing': 'packing, पैकिंग, pack',
  'Order picking': 'picker, pickin',
  'Store keeping': 'store keeper, godown, warehouse',
  'POS billing': 'cashier, billing',
  'Retail counter selling': 'salesman, sales, sale',
  'Outbound calling': 'telecaller, tele calling, telecaling',
  'Inbound call handling': 'call center, customer care, custmer care',
  'Front desk reception': 'receptionist, recep',
  'GST return filing': 'gst',
  'Income tax return filing': 'income tax, tax',
  'HR operations': 'hr manager',
  Recruitment: 'recruiter',
  'Spoken English': 'english speaking, spoken english',
  English: 'english',
  Hindi: 'hindi',
  'Adobe Photoshop': 'photoshop, photo shop',
  CorelDRAW: 'corel draw',
  'Graphic design': 'graphic designer',
  'Video editing': 'video editing, video',
  AutoCAD: 'autocad, auto cad',
  SolidWorks: 'solidworks, solid work',
  'Search engine optimisation': 'seo',
  'Digital marketing': 'digital marketing',
  'Social media marketing': 'social media',
  'WordPress development': 'wordpress',
  'Linux administration': 'linux',
  'Computer networking': 'networking',
  'Machine learning': 'machine lerning, ai',
  'First aid': 'first aid',
  Firefighting: 'fire fighting',
  'Table service': 'waiter',
  Bartending: 'bartender',
  'Guest room cleaning': 'room boy',
  'Laundry ironing': 'ironing, istri, press wala',
  'Scrap sorting and recycling': 'kabadi',
  'Borewell drilling': 'borewell',
  'Motor rewinding': 'motor winding',
  'Inverter and UPS installation': 'inverter',
  'Diesel generator operation': 'generator',
  'Earthing installation': 'earthing',
  'Ceiling fan installation': 'pankha, fan',
  'POP work': 'pop',
  'Gypsum false ceiling': 'false ceiling',
  Copywriting: 'copy writer',
  'Domestic house help': 'kaam wali bai, maid',
  'Office boy duties': 'peon',
  'Weld visual inspection': 'welding inspector',
  'Goat and sheep rearing': 'bakri palan',
  'Water tank cleaning': 'tanki safai',
  'Primary school teaching': 'टीचर, teacher, teach',
  'Content writing': 'content writng',
  'Steel railing fabrication': 'railing',
  Threading: 'thredding, eyebrow',
  'Masonry helper work': 'helper, majdoor',
  'Glass cutting and fitting': 'sheesha, शीशा',
  'Truck loading': 'loading',
  'Microsoft Word': 'word',
  'Microsoft PowerPoint': 'ppt',
  'Statutory audit': 'audit',
  'Swedish massage': 'massage',
  'Bridal makeup': 'makeup',
  'Cake making and icing': 'cake',
  'Espresso making': 'coffee',
  'Newborn handling': 'baby',
  'LED TV repair': 'tv',
  'GI pipe fitting': 'pipe',
  'Overhead tank installation': 'tank',
  'Concrete mixing': 'concrete',
  'Structural steel fabrication': 'fabrication',
  'Home tuition': 'tution',
  Photography: 'photo',
  'Food delivery': 'food deliv',
}

const { skills, subSkills, masters } = parseBuiltInCatalogue(await readBuiltInCatalogueFiles())
const mastersById = new Map(masters.map(({ id, number }) => [id, { number: number! }]))
const subSkillsById = new Map(
  subSkills.map(({ id, number, name, master }) => [id, { number: number!, name, master: mastersById.get(master!)! }]),
)
const index = buildSkillIndexSync(
  skills.map(({ number, subSkill, verifiable, ...skill }) => ({
    ...skill,
    number: number!,
    isPreferred: verifiable,
    sub: subSkillsById.get(subSkill)!,
  })),
)

test('common queries return the expected skill first', () => {
  const failures: string[] = []
  for (const [name, queries] of Object.entries(QUERIES_BY_FIRST_SKILL)) {
    for (const query of queries.split(', ')) {
      const foundNames = index.search(query, { limit: 5 }).skills.map((skill) => skill.name)
      if (foundNames[0] !== name) failures.push(`${query}: ${foundNames.join(', ')} instead of ${name}`)
    }
  }
  assert.deepEqual(failures, [])
})

/** Ambiguous queries whose most likely skill must be among the first three. */
const EXPECTED_SKILL_IN_TOP_THREE: Record<string, string> = {
  mechanic: 'Car periodic service',
  electrical: 'House wiring',
  security: 'Static guarding',
  data: 'Data entry',
  marketing: 'Digital marketing',
  pump: 'Domestic pump installation',
  battery: 'Lead-acid battery maintenance',
  steel: 'Structural steel fabrication',
  cook: 'Home cooking service',
  ac: 'Split AC installation',
  grinding: 'Surface grinding',
  laundry: 'Laundry ironing',
  cleaning: 'Washroom cleaning',
  toilet: 'Washroom cleaning',
  design: 'Graphic design',
  fire: 'Firefighting',
}

test('an ambiguous query returns the most likely skill among the first three', () => {
  const failures: string[] = []
  for (const [query, name] of Object.entries(EXPECTED_SKILL_IN_TOP_THREE)) {
    const foundNames = index.search(query, { limit: 3 }).skills.map((skill) => skill.name)
    if (!foundNames.includes(name)) failures.push(`${query}: ${foundNames.join(', ')} without ${name}`)
  }
  assert.deepEqual(failures, [])
})

test('the common word for a trade is found in a text', () => {
  for (const [text, name] of [
    ['Must know earthing', 'Earthing installation'],
    ['experience in welding', 'Arc welding'],
    ['electrician chahiye', 'House wiring'],
    ['loading of trucks', 'Truck loading'],
    ['वेल्डर की भर्ती', 'Arc welding'],
  ] as const) {
    const [firstSkill] = index.extract(text)
    assert.equal(firstSkill?.name, name, text)
    assert.ok(firstSkill.score >= 0.5, text)
  }
})

test('pay, benefits and documents in an advertisement are not extracted as skills', () => {
  const text =
    'Salary 15,000, PF, ESI, cab. Bijli, pani free. Bring biodata, marksheets, 2 passport size photos; call HR'
  assert.deepEqual(
    index.extract(text).filter(({ score }) => score >= 0.5),
    [],
  )
})
