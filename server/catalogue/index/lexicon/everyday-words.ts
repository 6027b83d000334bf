/**
 * Everyday words that some catalogue lists as a skill's whole name: Go, LESS, REST, Swift, R, "lead", "access". In a text
 * they nearly always mean themselves, so alone they count only when written the way the catalogue writes them.
 */
export const everydayWords: ReadonlySet<string> = new Set(
  `
  a about above access account across act action active activity actual add advance advanced again age agency ago aim air all allow
  alone also always amount and ant any app apply area arm around arrange art as ask assess asset at attend available aware away
  back balance base based basic be become before begin behind being benefit best better between big bit board body book both box
  brand break bring broad build building business but buy by call can capital card care career carry case cause center central centre
  certain chain challenge chance change chart check chef chip choice choose circle city class clean clear close code collect color
  colour come common communicate community company compare complete concept condition confirm connect consider contact contain
  content context continue control convert cooperate cost count country course cover create creative critical cross culture current
  custom cut cycle daily dart data date day deal decide decision deep define degree deliver demand department describe desk detail
  detect determine develop device different direct direction discover discuss display do document domain down draft draw dream drive
  drop dry due during duty each early earn ease easy edge edit education effect effective effort either else employ empty enable end
  energy engage engine enjoy ensure enter enterprise entry environment equal equipment essential establish etc event ever every
  evolve example excellent except exchange exercise exist expand expect experience expert explain explore express extend extra eye
  face fact fair fall family far fast feature feel feet few field file fill final finance financial find fine finish fire firm first
  fit fix flash flat flexible flow focus follow food for force foreign form format forward foundation frame free fresh from front
  fuel full function fund future gain game gas gather general get gift give global go goal good google grade graph great green
  ground group grow growth guide half hand handle hands happen happy hard have head health hear hearing heart heat heavy help here
  high hire hold home hook hope host hour house how human idea identify image impact implement import important improve in include
  income increase individual industry influence inform information initiative innovation input inside inspire install instead
  instruction insurance integrate interest interface internal international interview into invent invest investigate issue it item
  job join joint journey judge julia just keep key kind know knowledge label lamp land language large last late law lead leader
  leadership leading learn leave legal less let letter level library life lift light like limit line link list listen little live
  load local lock long look lot love low machine mail main maintain make manage management manager many map mark market mass master
  match material matter may mean measure mechanism media meet member memory mention merge message method middle mind minimum miss
  mission mix mobile mode model modern money monitor month more most motion move much multiple must name nation natural nature near
  need net network never new news next night no node none normal not note nothing now number object of off offer office often oil
  ok old on once one online only open operate operation opportunity option or oracle order ordinary organisation organization origin
  other our out outlook output outside over own pack package page paint pair panel paper parent part partner party pass past patch
  path pattern pause pay people perfect perform period person personal phase phone pick picture piece pig place plan plant plate
  play player please plus point policy pool position positive possible post power practice prepare present press pressure price
  primary print private problem procedure process processing produce product production profile profit program programme progress
  project promise promote proper protect provide public pull purchase purpose push put quality quarter question queue quick quiet
  quite r race range rate raw reach react read ready real really reason receive recent record recover recovery red reduce refer
  reflect region register regular relate release reliable remain remote remove rent repair repeat replace report represent request
  require research reserve resource respect respond rest result return review reward right ring rise risk road role room root round
  route ruby rule run rust safe safety salary sale same sample save say scale schedule school science scope score scratch screen
  season seat second section sector secure security see seek select self sell send senior sense separate series serve server service
  session set share shift ship shop short show side sight sign simple single site situation size skill sleep small smart social
  society soft software solution solve some sort sound source space spark special speed spend split spot spread spring staff stage
  stand standard star start state status stay step still stop storage store storm story strategy stream street stress strong
  structure student study style subject success such suit supply support sure surface survey swift switch system table take talent
  talk target task taste teach team teams technical technology telephone tell term test text than thank that the their theme then
  theory there these they thing think this those thread through ticket time tip title to today together tool top total touch tour
  toward track trade traffic train training transfer transport travel treat trend trial trip trust try turn type under understand
  union unique unit until up update upgrade upon us use user vacation valley value variety various vehicle very video view virtual
  vision visit visual voice volume wait walk wall want warehouse watch water wave way we wear web website week weight welcome well
  what wheel when where which while white who whole why wide wild will win window wish with within without word words work worker
  workplace works workshop world worth write year yield you young your zone
  `
    .trim()
    .split(/\s+/),
)
