// The syntax of colldsl, and only that: meaning is in docs/language.md, names and
// types are checked by compiler/Sema.
//
// Every keyword is contextual: `identifier` lists them all, so that a buffer may be
// called `send`. Where a text reads both ways the statement wins over the call
// (`parent (x);` gives a parent, `calc (x);` calculates) and the operator over the
// name (`not (x)`). The values `true`, `false` and `none` cannot be names.

grammar Coll;

file : item* EOF ;
soleExpression : expr EOF ; // of a command line

// Declarations

item
  : importDecl
  | functionDecl
  | treeDecl
  | graphDecl
  | collectiveDecl
  ;

importDecl     : 'import' String ';' ;
functionDecl   : 'function' identifier '(' parameters? ')' '=' expr ';' ;
treeDecl       : 'tree' identifier '(' parameters? ')' block ;
graphDecl      : 'graph' identifier '(' parameters? ')' block ;
collectiveDecl
  : deterministic='deterministic'? 'collective' identifier '(' parameters? ')' clause* block
  ;

parameters : parameter (',' parameter)* ;

// A buffer (`in x: T[n] at root`) or a value (`k: int = 2 in 1..64`): which of the
// two it is, and whether its parts fit together, is for the AST builder to say.
parameter
  : direction? identifier ':' global='global'? type
    ('at' place=expr)? ('=' init=expr)? ('in' candidates)?
  ;
direction  : 'in' | 'out' | 'inout' ;
type       : identifier dimension* ;
dimension  : '[' (size=expr | any='*' | '<=' most=expr)? ']' ;
candidates : lo=expr '..' hi=expr | '{' expr (',' expr)* '}' ;

clause
  : 'where' expr               # whereClause
  | 'ensures' postcondition    # ensuresClause
  | identifier 'aliases' expr  # aliasesClause
  ;
postcondition
  : 'synchronizes'             # synchronizesPostcondition
  | iteration ':' postcondition # forPostcondition
  | 'at' expr ':' postcondition # atPostcondition
  | expr                       # valuePostcondition
  ;

// Statements

block : '{' statement* '}' ;

statement
  : letStatement
  | tempStatement
  | forStatement
  | ifStatement
  | treeStatement
  | edgeStatement
  | orderStatement
  | operationStatement
  ;

letStatement  : 'let' identifier '=' expr ';' ;
tempStatement : 'temp' identifier ':' type ';' ;
forStatement  : 'for' identifier 'in' range ('invariant' postcondition)* block ;
ifStatement   : arm ('else' arm)* ('else' otherwise=block)? ;
arm           : 'if' expr block ;
treeStatement : kind=('parent' | 'child') expr ';' ;
edgeStatement
  : 'edge' way=('to' | 'from') peer=expr ('key' key=expr)? ('weight' weight=expr)? ';'
  ;
orderStatement
  : waiting=label how=('requires' | 'irequires') awaited+=label (',' awaited+=label)* ';'
  ;
operationStatement : (label ':')? operation ';' ;

label : identifier ('[' expr (',' expr)* ']')* ;

operation
  : 'send' expr destination all='multicast'?                   # sendOperation
  | 'recv' expr origin all='multicast'? ('combine' identifier side?)? # recvOperation
  | 'signal' destination                                       # signalOperation
  | 'wait' origin                                              # waitOperation
  | 'copy' source=expr 'to' target=expr                        # copyOperation
  | 'combine' source=expr 'into' target=expr identifier side?  # combineOperation
  | 'calc' expr                                                # calcOperation
  | identifier '(' arguments? ')' ('over' group=expr)?         # callOperation
  ;
destination : way=('to' | 'along') peer=expr ('tag' tag=expr)? ;
origin      : way=('from' | 'along') peer=expr ('tag' tag=expr)? ;
side        : where=('before' | 'after') ;

// Expressions, tightest first

expr
  : base=expr '.' identifier                                            # member
  | base=expr '[' first=expr ('..' last=expr)? ']'                      # index
  | callee=expr '(' arguments? ')'                                      # call
  | left=expr op='@' right=expr                                         # binary
  | op=('-' | '+') expr                                                 # unary
  | left=expr op=('*' | '/' | '%') right=expr                           # binary
  | left=expr op=('+' | '-') right=expr                                 # binary
  | left=expr op=('<<' | '>>') right=expr                               # binary
  | left=expr op='xor' right=expr                                       # binary
  | left=expr op=('==' | '!=' | '<' | '<=' | '>' | '>=') right=expr     # binary
  | op='not' expr                                                       # unary
  | left=expr op='and' right=expr                                       # binary
  | left=expr op='or' right=expr                                        # binary
  | <assoc=right> condition=expr '?' whenTrue=expr ':' whenFalse=expr   # conditional
  | Number                                                              # number
  | String                                                              # string
  | value=('true' | 'false' | 'none')                                   # literal
  | identifier                                                          # name
  | '(' expr ')'                                                        # parenthesized
  | '[' (expr (',' expr)*)? ']'                                         # list
  | '[' comprehension ']'                                               # listOf
  ;

arguments : argument (',' argument)* ;
argument
  : identifier '=' expr                                   # namedArgument
  | identifier ':' expr                                   # choiceArgument
  | comprehension                                         # comprehensionArgument
  | first=expr ('..' last=expr)? ('of' count=expr)?       # valueArgument
  ;

comprehension : iteration ':' expr ;
iteration     : 'for' identifier 'in' range ('if' condition=expr)? ;
range         : first=expr (dots=('..' | '..=') last=expr)? ;

identifier
  : Identifier
  | 'after' | 'aliases' | 'along' | 'and' | 'at' | 'before' | 'calc' | 'child' | 'collective'
  | 'combine' | 'copy' | 'deterministic' | 'edge' | 'else' | 'ensures' | 'for' | 'from'
  | 'function' | 'global' | 'graph' | 'if' | 'import' | 'in' | 'inout' | 'into' | 'invariant'
  | 'irequires' | 'key' | 'let' | 'multicast' | 'not' | 'of' | 'or' | 'out' | 'over' | 'parent' | 'recv' | 'requires'
  | 'send' | 'signal' | 'synchronizes' | 'tag' | 'temp' | 'to' | 'tree' | 'wait' | 'weight'
  | 'where' | 'xor'
  ;

// Words

Identifier   : [A-Za-z_] [A-Za-z0-9_]* ;
Number       : [0-9] [A-Za-z0-9_]* ;              // with its unit: 64KiB, 100ns
String       : '"' (~["\\\r\n] | '\\' ~[\r\n])* '"' ;
DocComment   : '///' (~[/\r\n] ~[\r\n]*)? -> channel(HIDDEN) ;
LineComment  : '//' ~[\r\n]* -> skip ;
BlockComment : '/*' .*? '*/' -> skip ;
Whitespace   : [ \t\r\n\f]+ -> skip ;

// What other languages write here; the parser names the word that we use instead.
Foreign      : '&&' | '||' | '->' | '=>' | '+=' | '-=' | '::' | . ;
