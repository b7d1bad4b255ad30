"""How widely words are used when people ask coding agents for something: stems by the number of twelve projects whose
people said them. What people of most projects say tells nothing about one project. Made by benchmarks/moment.py.
"""

from __future__ import annotations

PROJECTS = 12
_SAID_IN = {
    12: ("base chang code doc featur github log md push type"),
    11: (
        "ad agent com context creat document error exist fail fix flag futur http json kei local main merg option "
        "output pass path refer repositori request requir root run separ skip sourc src step verifi version write"
    ),
    10: (
        "action actual addit appli branch build call case caus cli command configur content data each end ensur "
        "entir etc evalu exampl full gener githubcom handl ignor includ latest manual messag migrat miss object "
        "origin process relat releas repo result review scope session set task top tree true updat url user via"
    ),
    9: (
        "access address allow api app avail below block captur ci clear close comment complet config confirm "
        "contain debug default defin diff directli enabl execut exit feedback field forc format found function "
        "gap git header hook hub id index instal investig line link mode name need note onc packag per pr project "
        "prompt pull read readm recent remain report resolv return script section setup singl statu store "
        "structur support sync target text through token tool trigger ts us valid workflow"
    ),
    8: (
        "abl accept across against author automat awar behavior checkpoint claud clone commit compar compat "
        "conflict cover current custom depend detect dev develop directori either entri env expect explicit "
        "failur fast finish flow folder follow get global head high histori import inform insid integr isn job "
        "level look machin manag markdown mean memori mention model multipl non normal on order pattern phase "
        "pick plan point reason reflect remot remov render resolut respons search secret share short show skill "
        "somewher start suggest summari surfac test though valu vs warn whether whole"
    ),
    7: (
        "abov activ align appear architectur auto between break cach cannot cd check codebas collect common "
        "concis control copi decis descript design detail down earlier eg empti entireio environ event exact "
        "explicitli extract final focu given ident improv info input instruct invalid js larg learn left list "
        "load login long loop maintain map mark metadata minim node notic number page past perform post prefer "
        "preserv previou print produc provid public publish ran readmemd real repeat replac rerun runtim semant "
        "sens server sh shell specif state storag style switch syntax system tabl take titl touch track variabl "
        "want word worktre"
    ),
    6: (
        "agentsmd ai am analysi answer approach approv area artifact ask attempt avoid basic batch be binari blob "
        "bug built codex color column come concept concurr confus consid consum contract correctli count cross de "
        "delet determinist differ dir draft duplic dure effect explain export extens fallback fals fetch filter "
        "find free fresh guarante guard guidelin hard hit home ideal ie impact implement interact intern introduc "
        "invok io item keep land languag leav lint live logic low minor modul move net none oper org other "
        "overrid pars pend permiss plugin pre present prior privat probabl product progress question rather raw "
        "recommend record ref refactor regress relev research revert rewrit rule save schema select sever signal "
        "simpl solv spec specifi stai standard strategi success talk termin think throw time tmp ui uniqu unknown "
        "until web window work workspac written yaml zero"
    ),
    5: (
        "adjust af appropri argument around arrai assert async attach auth authent background bar bash belong big "
        "boundari broken browser caller candid cat checkout chunk client cmd compon concern connect consist "
        "construct convers copilot coupl coverag databas date db decid deep deriv describ didn direct disabl "
        "discoveri discuss displai drop earli edg emit endpoint enforc engin especi eval except expand explan "
        "extern fact fall few fill five focus followup forget form forward four front gh graph green grep group "
        "guid happen hold host human idea im imag immedi indic initi insert inspect intent interfac jump layout "
        "lib like limit locat longer lookup ls manifest match matter mechan medium minut multi nativ network "
        "occur oh older omit onto opt originmain os otherwis outsid parallel parent part payload peopl person "
        "plain plu pointer polici properli propos qualiti refresh respect rest restart resum retri reus role rout "
        "rs runner safe sandbox screen second secur see send servic shadow shape ship side signatur silent "
        "simplifi snapshot split ssh stream string sub submit succe summar tag technic templat timeout timestamp "
        "toml trace transcript unit unless var verif view visibl wai walk webhook whatev wire within yml"
    ),
    4: (
        "absolut ac account add advanc affect along altern ambigu analyz andor announc anonym anymor anywai "
        "applic aren assist attent bd becom believ bind blocker bodi bottom bound bullet bundl bypass byte cap "
        "carri catch certain cfg changelog claim claudemd click cloud compil compos concret condit confid continu "
        "contribut convert coordin core creation critic deal dedic definit deleg deploi determin dispatch docker "
        "dont doubl drive dry ds dynam easili ee en eventu exclud expir expos extend far feel figur fire "
        "framework fulli gate genuin goe hand hash help helper hidden idl independ init inject inlin intact "
        "involv iter itself keyword kill known label lead legaci length liter lock lose loss malici max meant "
        "method mismatch mix modifi ms natur necessari nit npm null observ onelin op open opencod overal owner "
        "param patch pin pipelin place posit potenti preced preexist prefix prevent previous primari proper "
        "properti protocol prune python queri quit rais rang reach reader receiv reduc referenc regardless reject "
        "reliabl renam repli reset restor reusabl revis rid risk safeti score self sentenc sequenc serv shim "
        "shouldn sign size skillmd solut sort sound spawn special stack stage stale stat stdin stdout stop strip "
        "struct stuck subag successfulli suit surround telemetri temporari term theme thought tier toplevel "
        "tradeoff trim truncat unchang uncommit undefin understand unrel unsupport upload usag ux what world "
        "worth wouldn wrap wrapper writer"
    ),
}
COMMON_STEMS = {stem: projects for projects, stems in _SAID_IN.items() for stem in stems.split()}
